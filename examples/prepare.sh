#!/usr/bin/env bash
# Puts the input of the examples where they look for it.
# Usage: examples/prepare.sh [DIR]   default: /tmp/tidemill-demo, which the specs name
set -euo pipefail
from=$(cd "$(dirname "${BASH_SOURCE[0]}")/data" && pwd)
to=${1:-/tmp/tidemill-demo}
mkdir -p "$to"
cp -R "$from/." "$to/"
# Files are read in the order of their times, oldest first.
find "$to" -name '[0-9].json' | sort | while IFS= read -r file; do
    number=$(basename "$file" .json)
    touch -d "2026-01-01 00:00:0$number" "$file"
done
echo "Input of the examples: $to"
