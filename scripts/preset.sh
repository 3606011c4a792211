#!/bin/bash
# Prints the CMake preset for this machine: cuda where there is a CUDA compiler, else cpu.
# preset.sh --gpu asks for a GPU too: what is built to be run here and now need not wait for nvcc without one.
PATH=$PATH:/usr/local/cuda/bin
preset=cpu
command -v nvcc >/dev/null && preset=cuda
[ "${1:-}" = --gpu ] && ! nvidia-smi -L 2>/dev/null | grep -q '^GPU' && preset=cpu
echo "$preset"
