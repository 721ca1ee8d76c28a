#!/usr/bin/env bash
# Tries an image: it becomes healthy, a query with a token runs in it, survives docker kill and docker
# stop, and its output then has every row once.
# Usage: docker/check.sh [IMAGE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^project(tidemill VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
image=${1:-tidemill:$version}
files=40
rows=5000
name=tidemill-check-$$
dir=$(mktemp -d)
cleanup() {
    docker rm -f "$name" >/dev/null 2>&1 || true
    docker volume rm "$name" >/dev/null 2>&1 || true
    rm -rf "$dir"
}
trap cleanup EXIT
say() { printf '== %s\n' "$*"; }
in_it() { docker exec -i -e TIDEMILL_TOKEN=check-token-0123456789 "$name" tidemill "$@"; }
await_health() {
    until [ "$(docker inspect -f '{{.State.Health.Status}}' "$name")" = healthy ]; do
        if [ "$(docker inspect -f '{{.State.Running}}' "$name")" != true ]; then
            docker logs "$name" >&2
            exit 1
        fi
        sleep 1
    done
}

echo "check-token-0123456789 read,operate,write" >"$dir/tokens"
mkdir "$dir/events"
write_files() {
    local file
    for ((file = $1; file < $2; file++)); do
        seq "$((file * rows))" "$((file * rows + rows - 1))" | sed 's/.*/{"id":&}/' >"$dir/new"
        chmod a+r "$dir/new"
        mv "$dir/new" "$dir/events/$file.json"
    done
}
write_files 0 $((files / 2))
chmod -R a+rX "$dir"

docker run -d --name "$name" --stop-timeout 40 --network none \
    -e TIDEMILL_LISTEN=0.0.0.0:8088 -e TIDEMILL_TOKEN_FILE=/run/tidemill/tokens \
    -v "$dir/tokens:/run/tidemill/tokens:ro" -v "$name:/var/lib/tidemill" \
    -v "$dir/events:/srv/events" -e TIDEMILL_ALLOW_PATH=/srv/events:/var/lib/tidemill "$image" >/dev/null
await_health
say "healthy: $(in_it version), user $(docker exec "$name" id -u)"
docker exec "$name" tidemill ls 2>/dev/null && { echo "without a token it should be refused" >&2; exit 1; }

in_it submit - <<'END'
{"name": "check", "sql": "SELECT id FROM events WHERE id % 2 = 0",
 "sources": {"events": {"format": "json", "schema": "id BIGINT",
                        "options": {"path": "/srv/events", "maxFilesPerTrigger": 1}}},
 "sink": {"format": "json", "options": {"path": "/var/lib/tidemill/out"}}}
END
in_it trigger check >/dev/null
docker kill "$name" >/dev/null
say "killed; what it had: $(docker inspect -f 'exit code {{.State.ExitCode}}' "$name")"
docker start "$name" >/dev/null
await_health
write_files $((files / 2)) "$files"
in_it status check --wait RUNNING --timeout 60
in_it trigger check >/dev/null
docker stop "$name" >/dev/null
code=$(docker inspect -f '{{.State.ExitCode}}' "$name")
say "stopped, exit code $code"
[ "$code" = 0 ]
docker start "$name" >/dev/null
await_health
in_it status check --wait RUNNING --timeout 60
in_it processAllAvailable check --timeout 120
docker exec "$name" sh -c 'cat /var/lib/tidemill/out/*.json' | sort | uniq -c |
    awk -v wanted=$((files * rows / 2)) '$1 != 1 {twice++} {rows++}
        END {printf "== %d of %d rows, %d twice\n", rows, wanted, twice; exit rows != wanted || twice > 0}'

# The image has the libraries of every codec.
for codec in snappy lz4 zstd gzip; do
    docker exec -i "$name" sh -c "cat >/tmp/$codec.json && tidemill run /tmp/$codec.json >/dev/null" <<END
{"name": "$codec", "sql": "SELECT id FROM events", "trigger": {"availableNow": true},
 "sources": {"events": {"format": "json", "schema": "id BIGINT", "options": {"path": "/srv/events"}}},
 "sink": {"format": "parquet", "options": {"path": "/tmp/$codec", "compression": "$codec"}},
 "checkpointLocation": "/tmp/$codec.checkpoint"}
END
    docker exec "$name" sh -c "cat /tmp/$codec/*.parquet" | tail -c 4 | grep -q PAR1
    say "parquet, $codec: written"
done
