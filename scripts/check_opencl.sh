#!/bin/bash
# check_opencl.sh [TESTS]: compiles every OpenCL C source for OpenCL 1.2 with warnings as errors, once for each line
# "// Options: ..." in it, and with TESTS (build/cpu/tests/holotone_tests) runs some kernels under Oclgrind, which finds
# accesses out of bounds and data races, on a device of 32 KB of local memory.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=${1:-}
# Tests of few work items: Oclgrind takes each for itself.
small='*PaddedFilter*:*PointCloudRelations.OutputsAreWrittenWholeAndNothingElse/opencl:*EncodeParts.TheCheckerboardIsThePanels/opencl:*SmoeRender.OneComponentIsItsExpert/opencl:*SpotsOpencl.SmallPanels*:*SpotsOpencl.Phases*:-*CudaPaddedFilter*'

failed=0
while read -r file; do
  mapfile -t options < <(sed -n 's|^// Options: *||p' "$file")
  [ ${#options[@]} -gt 0 ] || options=("")
  for own in "${options[@]}"; do
    # shellcheck disable=SC2086  # several options
    clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -I. -fsyntax-only -Wall -Wextra -Werror \
      -Wno-unused-function -Wno-unused-parameter $own "$file" || { echo "$file $own" >&2; failed=1; }
  done
done < <(git ls-files --cached --others --exclude-standard '*.cl')
[ $failed -eq 0 ] || exit 1
echo "check_opencl: every source compiles"

[ -n "$tests" ] || exit 0
icd=$(find /usr/lib /usr/local/lib -name liboclgrind-rt-icd.so 2>/dev/null | head -n 1 || true)
if [ -z "$icd" ]; then
  echo "check_opencl: Oclgrind is not installed: its run is left out"
  exit 0
fi
vendors=$(mktemp -d)
trap 'rm -rf "$vendors"' EXIT
echo "$icd" >"$vendors/oclgrind.icd"
# Optimized code has intrinsics that Oclgrind does not know.
OCL_ICD_VENDORS=$vendors OCLGRIND_BUILD_OPTIONS=-cl-opt-disable OCLGRIND_LOCAL_MEM_SIZE=32768 OCLGRIND_DATA_RACES=1 OCLGRIND_CHECK_API=1 \
  "$tests" --gtest_filter="$small" 2>&1 | tee "$vendors/log" | tail -n 5
if ! grep -q 'PASSED' "$vendors/log" || grep -qE 'Invalid|race|OCLGRIND|FAILED|SKIPPED' "$vendors/log"; then
  cat "$vendors/log" >&2
  exit 1
fi
