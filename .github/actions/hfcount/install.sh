#!/usr/bin/env bash
# Installs hfcount, of the version that the action itself is, into an environment of its own.
set -euo pipefail
home="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
"${PYTHON:-python3}" -m venv "$RUNNER_TEMP/hfcount"
"$RUNNER_TEMP/hfcount/bin/pip" install --quiet --disable-pip-version-check "$home"
echo "$RUNNER_TEMP/hfcount/bin" >>"$GITHUB_PATH"
