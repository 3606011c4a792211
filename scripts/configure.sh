#!/bin/bash
# configure.sh PRESET [cmake arguments]: configures build/PRESET. A CUDA build has PTX for every card and machine code for
# Hopper (CMakeLists.txt); machine code for the cards of this machine is added, so that they start without compiling.
set -eu
preset=$1
shift
cards=()
if [ "$preset" = cuda ] || [ "$preset" = all ]; then cards=("-DHOLOTONE_CUDA_CARDS=$(scripts/cuda_cards.sh)"); fi
exec cmake --preset "$preset" "${cards[@]}" "$@"
