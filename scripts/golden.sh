#!/bin/bash
# Compares what two builds of the program compute on this machine: golden.py in its environment, build/golden_venv.
#   golden.sh OLD_PROGRAM NEW_PROGRAM          golden.sh --old REVISION [NEW_PROGRAM | --new REVISION]
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
venv=$scripts/../build/golden_venv
if [ ! -e "$venv/complete" ]; then
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy pillow tifffile h5py pypng
  touch "$venv/complete"
fi
exec "$venv/bin/python" "$scripts/golden.py" "$@"
