#!/bin/bash
# configure.sh PRESET [cmake arguments]: configures build/PRESET. Where a GPU is present and is not a Hopper card (for which the
# presets build), a CUDA build is made for the card that is there.
set -eu
preset=$1
shift
architecture=()
if [ "$preset" = cuda ] || [ "$preset" = all ]; then
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ' || true)
  if [[ "$capability" =~ ^[0-9]+$ ]] && [ "$capability" != 90 ]; then
    architecture=("-DCMAKE_CUDA_ARCHITECTURES=$capability-real")
  fi
fi
exec cmake --preset "$preset" "${architecture[@]}" "$@"
