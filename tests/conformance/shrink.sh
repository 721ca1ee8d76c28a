#!/usr/bin/env bash
# Takes out of pending.txt what passes now; it never adds.  Usage: shrink.sh DIRECTORY-OF-RUNNERS
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runners=$(cd "$1" && pwd)
failing=$(mktemp)
trap 'rm -f "$failing"' EXIT
find "$here/cases" -name '*.jsonl' -print0 | sort -z |
    xargs -0 "$runners/case_run" --deviations "$here/deviations.tsv" --list-failed >"$failing" || true
find "$here/scenarios" -name '*.scn' -print0 | sort -z |
    xargs -0 "$runners/scenario_run" --deviations "$here/deviations.tsv" --list-failed >>"$failing" || true
grep -Fxf "$failing" "$here/pending.txt" >"$here/pending.new" || true
mv "$here/pending.new" "$here/pending.txt"
wc -l <"$here/pending.txt"
