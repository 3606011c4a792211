#!/bin/bash
# Formats every C++ and CUDA file of the tree in place; format.sh --check lists those that are not formatted, and fails.
set -eu
cd "$(dirname "$0")/.."
mode=(-i)
[ "${1:-}" = --check ] && mode=(--dry-run -Werror)
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh' | xargs -0 -r clang-format "${mode[@]}"
