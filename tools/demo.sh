#!/usr/bin/env bash
# The demo: a query over files that arrive while it runs; its worker is killed in the middle, and
# the output still has every row exactly once.
#
#   tools/demo.sh [--stay | --end]     at a terminal the server runs on until a key is pressed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tidemill=${TIDEMILL:-$PWD/build/release/tidemill}
files=${DEMO_FILES:-60}       # files that arrive
rows=${DEMO_ROWS:-2000}       # rows in each
stay=false
[ ! -t 0 ] || stay=true
case ${1:-} in
--stay) stay=true ;;
--end) stay=false ;;
esac

dir=$(mktemp -d /tmp/tidemill-demo-XXXXXX)
server_pid=
feeder_pid=
cleanup() {
    [ -z "$feeder_pid" ] || kill "$feeder_pid" 2>/dev/null || true
    [ -z "$server_pid" ] || { kill "$server_pid" 2>/dev/null && wait "$server_pid"; } 2>/dev/null || true
    rm -rf "$dir"
}
trap cleanup EXIT
unset TIDEMILL

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1; }
api() { curl -sS --fail-with-body "$@"; }

# One file of clicks: every fourth is a visit to the shop.  Written beside, then renamed in, so that
# the query never sees half a file.
click_file() {
    awk -v file="$1" -v rows="$rows" 'BEGIN {
        split("/shop/cart /news/today /shop/books /home /about /news/world /help /shop/toys", page, " ")
        for (i = 0; i < rows; i++) {
            id = file * rows + i
            printf "{\"id\":%d,\"at\":\"2026-01-01T%02d:%02d:%02dZ\",\"visitor\":\"v%d\",\"url\":\"%s\",\"ms\":%d}\n",
                id, int(id / 3600) % 24, int(id / 60) % 60, id % 60, id % 997, page[id % 8 + 1], id % 500
        }
    }' >"$dir/incoming"
    mv "$dir/incoming" "$dir/clicks/$(printf '%05d' "$1").json"
}

feed() {
    local i
    for ((i = 0; i < files; i++)); do
        click_file "$i"
        read -r -t 0.08 <>"$dir/never" || true # a pause between two files
    done
}

say "1. A server"
mkdir "$dir/clicks"
mkfifo "$dir/never" "$dir/ready"
"$tidemill" serve --data-dir "$dir/data" --listen 127.0.0.1:0 --log-file "$dir/server.log" \
    --restart-delay "200 ms" >"$dir/ready" &
server_pid=$!
read -r line <"$dir/ready"
echo "$line"
url=${line##* }

say "2. A query, by one POST (examples/clicks-to-shop.json)"
sed "s|/tmp/tidemill-demo/|$dir/|" examples/clicks-to-shop.json >"$dir/query.json"
sed 's/^/    /' "$dir/query.json"
api --json @"$dir/query.json" "$url/v1/queries" | field state | sed 's/^/state: /'

say "3. Files arrive; the worker is killed in the middle"
feed &
feeder_pid=$!
killed=0
while :; do
    status=$(api -H 'Prefer: wait=1' "$url/v1/queries/clicks-to-shop/status")
    arrived=$(find "$dir/clicks" -name '*.json' | wc -l)
    batch=$(field lastBatchId <<<"$status")
    printf '\r  files %3d/%d   batch %-5s %-10s worker %-8s' "$arrived" "$files" "$batch" \
        "$(field state <<<"$status")" "$(field pid <<<"$status")"
    if [ "$killed" -lt 3 ] && [ "$arrived" -ge $(((killed + 1) * files / 4)) ]; then
        pid=$(field pid <<<"$status")
        if [ "$pid" != null ] && kill -KILL "$pid" 2>/dev/null; then
            killed=$((killed + 1))
            printf '\n  kill -KILL %s\n' "$pid"
        fi
    fi
    [ "$arrived" -lt "$files" ] || break
done
wait "$feeder_pid" || true
feeder_pid=
echo

say "4. What came out"
# Until the query runs again after the last kill, the request is refused: ask again at each change.
until api -X POST "$url/v1/queries/clicks-to-shop/processAllAvailable" >"$dir/answer" 2>/dev/null; do
    api -H 'Prefer: wait=5' "$url/v1/queries/clicks-to-shop/status" >/dev/null
done
cat "$dir"/clicks/*.json | grep '"url":"/shop/' | sed 's/.*"id":\([0-9]*\).*/\1/' | sort -n >"$dir/want"
cat "$dir"/shop/*.json | sed 's/.*"id":\([0-9]*\).*/\1/' | sort -n >"$dir/got"
printf '  rows in            %8d\n' "$(cat "$dir"/clicks/*.json | wc -l)"
printf '  visits to the shop %8d\n' "$(wc -l <"$dir/want")"
printf '  rows out           %8d\n' "$(wc -l <"$dir/got")"
printf '  lost               %8d\n' "$(comm -23 "$dir/want" <(sort -n -u "$dir/got") | wc -l)"
printf '  repeated           %8d\n' "$(uniq -d "$dir/got" | wc -l)"
printf '  worker killed      %8d times\n' "$killed"
if ! cmp -s "$dir/want" "$dir/got"; then
    echo "The output is NOT the input." >&2
    exit 1
fi
echo "  The output is exactly the input that passes the filter."

say "5. Where to look next"
checkpoint=$(api "$url/v1/queries/clicks-to-shop" | field checkpointLocation)
cat <<END
  $url/v1/queries/clicks-to-shop               the query and its status
  $url/v1/queries/clicks-to-shop/progress      each batch, as Spark reports it
  $url/v1/queries/clicks-to-shop/runs          the runs that were killed, with their causes
  $url/v1/queries/clicks-to-shop/batches       which files went into which batch
  $tidemill checkpoint show $checkpoint
END
api "$url/v1/queries/clicks-to-shop/runs" | tr '{' '\n' | grep runId | sed 's/^/    /' | cut -c1-150
if $stay; then
    echo "  The server runs until you press a key; its files are in $dir until then."
    read -r -n 1
else
    echo "  (./run demo --stay keeps the server running)"
fi
