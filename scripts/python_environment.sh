#!/bin/bash
# python_environment.sh: an environment for the Python package and its tests in build/venv. TORCH=1 installs PyTorch too (5 GB).
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x build/venv/bin/python ] || python3 -m venv build/venv
packages=(numpy nanobind scikit-build-core pytest mypy tqdm)
[ "${TORCH:-}" ] && packages+=(torch -r python/tests/requirements.txt)
build/venv/bin/python -m pip install --quiet --disable-pip-version-check "${packages[@]}"
