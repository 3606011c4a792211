#!/bin/bash
# test_python.sh PRESET [pytest arguments]: builds the Python package in build/PRESET/python/package, with an environment of its
# own in build/venv, and runs its tests. TORCH=1 installs PyTorch too (5 GB), whose tests are skipped without it.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
scripts/install_dependencies.sh --python
python=build/venv/bin/python
scripts/python_environment.sh
scripts/configure.sh "$preset" -DHOLOTONE_PYTHON=ON -DPython_EXECUTABLE="$PWD/$python"
cmake --build --preset "$preset" -j "$(nproc)" -t holotone_python
# Threads that spin while they wait take the processors from those that work, on a machine of few.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
PYTHONPATH=$PWD/build/$preset/python/package exec $python -m pytest -q -p no:cacheprovider "$@"
