#!/bin/bash
# Prints the CUDA architectures of this machine's cards, as CMake lists them: 86-real;90a-real. Nothing without cards. A
# card that the compiler does not know runs the PTX of 80.
PATH=$PATH:/usr/local/cuda/bin
known=$(nvcc --list-gpu-code 2>/dev/null)
for capability in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -nu); do
  grep -qx "sm_$capability" <<<"$known" || continue
  [ "$capability" = 90 ] && capability=90a # Hopper's matrix instructions
  printf '%s' "${list:+;}$capability-real"
  list=some
done
