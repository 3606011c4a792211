#!/bin/bash
# sanitize_changed.sh: the library with the address and undefined-behaviour sanitizers, and the tests of its modules that
# changed (changed_files.sh); those on OpenCL and in windows only if files of these changed. SANITIZE=all: the program and
# every test, half an hour more on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${SANITIZE:-}" = all ]; then
  scripts/configure.sh asan -DHOLOTONE_TEST_MODULES= -DHOLOTONE_EXAMPLES=ON
  cmake --build --preset asan -j "$(nproc)"
  ctest --preset asan -j "$(nproc)"
  exec ctest --preset asan-opencl -j "$(nproc)"
fi
mapfile -t files < <(scripts/changed_files.sh holotone tests web)
mapfile -t modules < <(printf '%s\n' "${files[@]}" |
  sed -nE 's,^(holotone|tests)/([a-z]+)/.*,\2,p; s,^web/.*,web,p' | grep -vE '^(cli|structure)$' | sort -u |
  while read -r module; do if compgen -G "tests/$module/*_test.cpp" >/dev/null; then echo "$module"; fi; done)
if [ ${#modules[@]} -eq 0 ]; then
  echo "sanitizers: no module changed"
  exit 0
fi
echo "sanitizers: ${modules[*]}"
scripts/configure.sh asan "-DHOLOTONE_TEST_MODULES=$(IFS=';'; echo "${modules[*]}")" -DHOLOTONE_EXAMPLES=OFF
cmake --build --preset asan -j "$(nproc)" -t holotone_tests
ctest --preset asan -j "$(nproc)"
if printf '%s\n' "${files[@]}" | grep -qE 'opencl|\.cl$|display'; then
  ctest --preset asan-opencl -j "$(nproc)" --no-tests=ignore
fi
