#!/bin/bash
# Formats every C++ and CUDA file of the tree in place; format.sh --check lists those that are not formatted, and fails.
# Both list lines of more than 120 columns, also of OpenCL sources and in comments, which clang-format does not break.
set -eu
cd "$(dirname "$0")/.."
mode=(-i)
[ "${1:-}" = --check ] && mode=(--dry-run -Werror)
list() { git ls-files -z --cached --others --exclude-standard -- "$@"; }
sources=('*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh')
list "${sources[@]}" | xargs -0 -r clang-format "${mode[@]}"
# Bytes of UTF-8 that continue a character (octal 200 to 277) are no columns.
list "${sources[@]}" '*.cl' | LC_ALL=C xargs -0 -r awk '
  { columns = $0; gsub(/[\200-\277]/, "", columns) }
  length(columns) > 120 && !/^\/\/ Options: / { print FILENAME ":" FNR ": longer than 120 columns" }' >&2
echo "format.sh: $(list "${sources[@]}" | tr -cd '\0' | wc -c) files ${mode[0]/-i/formatted}" | sed 's/--dry-run/checked/'
