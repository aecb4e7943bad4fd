#!/usr/bin/env bash
# Verifies $MODELS, one a line, with $ARGUMENTS, one a line; writes annotations, the summary and outputs, and exits as
# hfcount does.
set -uo pipefail
report="$RUNNER_TEMP/hfcount.jsonl"
rm -f "$report"
mapfile -t arguments < <(grep -v '^[[:space:]]*$' <<<"${ARGUMENTS:-}")
mapfile -t models < <(sed 's/^[[:space:]]*//; s/[[:space:]]*$//' <<<"${MODELS:-}" | grep -v '^$')
if [ "${SUMMARY:-true}" != true ]; then
  unset GITHUB_STEP_SUMMARY
fi
code=0
hfcount --format github --output "json:$report" "${arguments[@]}" -- "${models[@]}" || code=$?
python3 - "$report" >>"$GITHUB_OUTPUT" <<'END'
import json, os, sys

path = sys.argv[1]
found = [json.loads(line)["verdict"] for line in open(path, encoding="utf-8")] if os.path.exists(path) else []
order = ("mismatch", "unverified", "allowed", "explained", "verified")
print(f"verdict={next((one for one in order if one in found), 'unverified')}")
print(f"models={len(found)}")
print(f"mismatches={found.count('mismatch')}")
print(f"report={path if found else ''}")
END
exit "$code"
