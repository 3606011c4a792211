#!/bin/bash
# tidy_changed.sh [SECONDS]: clang-tidy on the .cpp files that changed (changed_files.sh), each with the headers it
# includes. Stops starting new files after SECONDS (default: no limit) and says which it left out.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${1:-1000000}
cmake --preset tidy >/dev/null
cmake --build --preset tidy -t holotone_bench_commit >/dev/null  # a header that is made when building
mapfile -t files < <(scripts/changed_files.sh '*.cpp' | grep -vE '^python/|(_cuda|kissfft_cpu)\.cpp$' || true)
echo "clang-tidy: ${#files[@]} changed files"
[ ${#files[@]} -eq 0 ] && exit 0

check() {
  if [ "$(date +%s)" -gt "$1" ]; then
    echo "clang-tidy: out of time, not checked: $2"
  elif ! grep -qF "/$2\"" build/tidy/compile_commands.json; then
    echo "clang-tidy: not compiled on this machine, not checked: $2"
  elif output=$(clang-tidy --quiet -p build/tidy "$2" 2>/dev/null); then
    echo "clang-tidy: $2: clean"
  else
    printf 'clang-tidy: %s:\n%s\n' "$2" "$output"
    return 1
  fi
}
export -f check
printf '%s\0' "${files[@]}" | xargs -0 -r -n 1 -P "$(nproc)" bash -c 'check "$0" "$1"' $(($(date +%s) + limit))
