#!/bin/bash
# sanitize_changed.sh: builds everything with the address and undefined-behaviour sanitizers, with the tests of the modules
# that changed (changed_files.sh), and runs them; those on OpenCL and in windows only if files of these changed.
# SANITIZE=all takes every test.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t modules < <(scripts/changed_files.sh holotone tests cli viewer |
  sed -nE 's,^(holotone|tests)/([a-z]+)/.*,\2,p; s,^(cli|viewer)/.*,\1,p' | sort -u |
  while read -r module; do compgen -G "tests/$module/*_test.cpp" >/dev/null && echo "$module"; done || true)
slow=$(scripts/changed_files.sh holotone tests cli | grep -E 'opencl|\.cl$|display' || true)
if [ "${SANITIZE:-}" = all ]; then
  modules=()
  slow=all
elif [ ${#modules[@]} -eq 0 ]; then
  echo "sanitizers: no module changed"
  exit 0
fi
echo "sanitizers: ${modules[*]:-all modules}"
scripts/configure.sh asan "-DHOLOTONE_TEST_MODULES=$(IFS=';'; echo "${modules[*]}")"
cmake --build --preset asan -j "$(nproc)"
ctest --preset asan -j "$(nproc)"
if [ "$slow" ]; then ctest --preset asan-opencl -j "$(nproc)" --no-tests=ignore; fi
