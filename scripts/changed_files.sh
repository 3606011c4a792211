#!/bin/bash
# changed_files.sh [PATHSPEC...]: names the files added or changed since the last landing (CHANGE_BASE, else 20 commits back).
set -euo pipefail
cd "$(dirname "$0")/.."
base=${CHANGE_BASE:-$(git rev-parse -q --verify HEAD~20 || git rev-list --max-parents=0 HEAD | tail -n 1)}
git diff --name-only --diff-filter=AMR "$base" -- "$@"
