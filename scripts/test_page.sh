#!/bin/bash
# test_page.sh PROGRAM [pytest arguments]: the page of `holotone view` in a browser (Chromium), alone and served by the
# program. Without Chromium it says so and ends.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
shift
scripts/install_dependencies.sh --page
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "test_page: no Chromium: the page is not tested" >&2
  exit 0
fi
python=build/page_venv/bin/python
[ -x $python ] || python3 -m venv build/page_venv
$python -m pip install --quiet --disable-pip-version-check -r web/tests/requirements.txt
HOLOTONE_PROGRAM=$program HOLOTONE_CHROMIUM=$browser exec $python -m pytest -q -p no:cacheprovider web/tests "$@"
