#!/bin/bash
# configure.sh PRESET [cmake arguments]: configures build/PRESET. A CUDA build has PTX for every card and machine code for
# Hopper (CMakeLists.txt); machine code for the cards of this machine is added, so that they start without compiling.
set -eu
export PATH=$PATH:/usr/local/cuda/bin
preset=$1
shift
cards=()
if [ "$preset" = cuda ] || [ "$preset" = all ]; then
  known=$(nvcc --list-gpu-code 2>/dev/null || true)
  list=
  for capability in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -nu); do
    # A card that this compiler does not know runs the PTX.
    [ "$capability" != 90 ] && grep -qx "sm_$capability" <<<"$known" && list="$list${list:+;}$capability-real"
  done
  cards=("-DHOLOTONE_CUDA_CARDS=$list")
fi
exec cmake --preset "$preset" "${cards[@]}" "$@"
