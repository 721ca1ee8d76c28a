#!/usr/bin/env bash
# Does what README.md says under "A first query", with another directory and port, and looks at the rows.
#
#   check_readme.sh README.md TIDEMILL
set -euo pipefail
readme=$1
tidemill=$2
dir=$(mktemp -d /tmp/tidemill-readme-XXXXXX)
server=
cleanup() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$dir"
}
trap cleanup EXIT
mkdir "$dir/bin"
ln -s "$(realpath "$tidemill")" "$dir/bin/tidemill"
export PATH=$dir/bin:$PATH
unset "${!TIDEMILL_@}"

tidemill serve --data-dir "$dir/tidemill" --listen 127.0.0.1:0 --log-file "$dir/log" >"$dir/said" &
server=$!
until grep -q listens "$dir/said"; do sleep 0.1; done
TIDEMILL_SERVER=$(sed -n 's/.*listens on //p' "$dir/said")
export TIDEMILL_SERVER
tidemill ready

# The shell blocks of the section after the one that builds and serves.
awk '/^## /{inside = /A first query/} inside && /^```sh$/{block++; on = 1; next} /^```/{on = 0}
     inside && on && block > 1' "$readme" | sed "s#/tmp/#$dir/#g" >"$dir/steps.sh"
awk '/^## /{inside = /A first query/} inside && /^```json$/{on = 1; next} /^```/{on = 0} inside && on' \
    "$readme" | sort >"$dir/expected"
[ -s "$dir/steps.sh" ] && [ -s "$dir/expected" ]
bash -euo pipefail "$dir/steps.sh" >"$dir/output"
grep '^{"minute"' "$dir/output" | sort >"$dir/rows"
diff "$dir/expected" "$dir/rows"
