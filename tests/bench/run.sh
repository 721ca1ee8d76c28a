#!/usr/bin/env bash
# Runs workloads of the benchmark kit: one JSON line per result on standard output, tables and
# progress on standard error.  Usage: run.sh BINARY [WORKLOAD...]; without a workload: w1_filter
# w1_wide q0 latency.
#
#   ENGINES=tidemill,duckdb,spark   who takes part (default: tidemill,duckdb; spark needs a JDK 17)
#   ROUNDS=3  ROWS=2000000          rounds, and rows per workload (default: the suite's size)
#   BENCH_WORK=DIR                  where data and runs go (default: build/bench)
#   BENCH_ARGS="..."                further arguments of compare.py
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
binary=${1:?usage: run.sh BINARY [WORKLOAD...]}
shift
workloads=("$@")
[ ${#workloads[@]} -gt 0 ] || workloads=(w1_filter w1_wide q0 latency)
engines=${ENGINES:-tidemill,duckdb}
work=${BENCH_WORK:-$root/build/bench}
mkdir -p "$work"

# The peers and the checksums need packages of their own, kept in a virtual environment.
python=${BENCH_PYTHON:-$work/venv/bin/python}
if [ ! -x "$python" ]; then
    python3 -m venv "$work/venv" >&2
fi
wanted=(duckdb)
case ",$engines," in *,spark,*) wanted+=("pyspark==4.3.0") ;; esac
for package in "${wanted[@]}"; do
    "$python" -c "import ${package%%=*}" 2>/dev/null ||
        "$python" -m pip install --quiet "$package" >&2
done

arguments=(--engines "$engines" --rounds "${ROUNDS:-3}" --work "$work" --json "$work/results.json"
    --engine "tidemill=$binary run {spec} -o json" --python "$python")
[ -z "${ROWS:-}" ] || arguments+=(--rows "$ROWS")
# Spark at its best settings, as the kit's README asks for.
case ",$engines," in *,spark,*) arguments+=(--args "spark=--pretouch --warmup 1") ;; esac
status=0
# shellcheck disable=SC2086 # BENCH_ARGS is a list of words
KIT_CHECK_PYTHON="$python" "$python" "$here/kit/compare.py" "${workloads[@]}" "${arguments[@]}" \
    ${BENCH_ARGS:-} >&2 || status=$?
"$python" - "$work/results.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
for workload in report["workloads"]:
    for row in workload["table"]:
        print(json.dumps({"workload": workload["id"], "rounds": row.pop("runs"), **row}))
PY
exit "$status"
