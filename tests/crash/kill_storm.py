#!/usr/bin/env python3
"""Kills a server and its worker with SIGKILL, over and over, and counts what came out.

    kill_storm.py BINARY [--kills 1000] [--seed N] [--keep] [--query KIND] [--sink KIND]

Files of numbered rows arrive all the time; a query filters them, counts them by key in windows, in
sliding windows or in sessions, or joins them with earlier ones, with a state of which most does not
fit into its memory, and writes to files.  At random instants the worker dies, or the server, or both;
a killed server is started again at once.  At the end every number that passes the filter must be in
the output exactly once, each window and each session of each key with its true count and sum, and each
row with its partner or alone; whoever listed the output meanwhile must never have seen a torn line or
a row twice, and what did not fit must have been on the disk.  The sink `console` may repeat a batch,
and loses none; `memory` and `noop` are only to go on.  Standard library only, but for
the sink `parquet`: that is read with pyarrow.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROWS_PER_FILE = 50
KEYS, SIZE, SLIDE = 2000, 800, 300  # of the windows, in seconds; there are ten rows a second
START = 1700000000      # of the first row
GAP, BURST = 60, 20     # of sessions; of BURST rows each second one is of the same key as the first
AHEAD = 1000            # so many rows before a row its partner came
SINKS = {"json": {}, "csv": {"header": False}, "text": {}, "partitioned": {}, "metadata": {"sparkMetadata": "true"},
         "parquet": {}, "console": {}, "memory": {}, "noop": {}}


class Server:
    """One data directory, served again after every death."""

    def __init__(self, binary, root):
        self.binary, self.root, self.process, self.url = binary, root, None, None

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data-dir", f"{self.root}/data", "--listen", "127.0.0.1:0",
             "--log-file", f"{self.root}/server.log", "--restart-delay", "1 ms",
             "--restart-delay-max", "20 ms"], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the server did not start: exit code {self.process.wait()}")
        self.url = line.split()[-1].rstrip("/")

    def call(self, method, path, body=None, timeout=60):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.loads(answer.read() or b"null")

    def workers(self):
        """The processes below the server, and those that outlived an earlier one."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
            except OSError:
                continue
            if len(words) > 1 and words[1] == b"worker" and any(self.root.encode() in w for w in words):
                found.append(int(pid))
        return found


def stamp(tenths):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(START + tenths // 10)) + f".{tenths % 10}"


def put_file(root, number, rows):
    """Renamed into place whole."""
    with open(f"{root}/incoming", "w") as f:
        f.writelines(json.dumps(row) + "\n" for row in rows)
    os.rename(f"{root}/incoming", f"{root}/in/{number:08d}.json")


def feed(root, stop, fed, pause):
    """One file after another."""
    os.makedirs(f"{root}/in")
    while not stop.is_set():
        first = fed[0] * ROWS_PER_FILE
        put_file(root, fed[0], [{"id": i, "keep": i % 3 != 0, "key": i % KEYS, "at": stamp(i)}
                                for i in range(first, first + ROWS_PER_FILE)])
        fed[0] += 1
        stop.wait(pause)


def close_windows(server, fed):
    """Rows that come so late that all windows of the others are closed."""
    for i in range(2):
        put_file(server.root, fed + i, [{"id": 0, "keep": True, "key": -1 - i, "at": stamp(10**8 + i)}])
        finish(server)


def groups_of(kind, i):
    """The windows, or the session, of a row, with its key."""
    second = START + i // 10
    if kind == "sessions":  # they begin with the first row of the key
        key = i // BURST * (BURST // 2) + i % (BURST // 2)
        return [(START + (i // BURST * BURST + i % (BURST // 2)) // 10, key)]
    slide = SLIDE if kind == "sliding" else SIZE
    newest = second // slide * slide
    return [(start, i % KEYS) for start in range(newest, newest - SIZE, -slide) if second < start + SIZE]


def wanted_of(kind, count):
    """What a list and a loop say of rows [0, count)."""
    if kind == "filter":
        return {i for i in range(count) if i % 3 != 0}
    if kind == "join":
        return {(i, i - AHEAD if i >= AHEAD and (i - AHEAD) % 3 != 0 else None) for i in range(count)}
    groups = {}
    for i in range(count):
        for group in groups_of(kind, i):
            n, total = groups.get(group, (0, 0))
            groups[group] = n + 1, total + i
    return {(w, k, n, t) for (w, k), (n, t) in groups.items()}


def parquet_rows(path):
    import pyarrow.parquet
    return pyarrow.parquet.ParquetFile(path).read().to_pylist()


def read_rows(root, sink):
    """What stands in the visible output, a value for each row; a torn line is an error."""
    rows = []
    if sink in ("console", "memory", "noop"):
        return rows
    for folder, folders, names in os.walk(f"{root}/out"):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in sorted(names):
            if name.startswith((".", "_")):
                continue
            if name.endswith(".parquet"):
                rows += [json.dumps(row) for row in parquet_rows(f"{folder}/{name}")]
                continue
            with open(f"{folder}/{name}") as f:
                for line in f:
                    if not line.endswith("\n"):
                        raise SystemExit(f"FAILED: {name} ends in the middle of a line")
                    rows.append(line)
    return rows


def read_output(root, sink="json"):
    rows = read_rows(root, sink)
    if sink in ("csv", "text"):
        return [int(row) for row in rows]
    rows = [json.loads(row) for row in rows]
    return [(row["left"], row.get("other")) if "left" in row else
            row["id"] if "id" in row else (row["w"], row["key"], row["n"], row["total"]) for row in rows]


def check(numbers, wanted=None):
    seen = set(numbers)
    if len(seen) != len(numbers):
        raise SystemExit(f"FAILED: {len(numbers) - len(seen)} rows came out twice")
    if wanted is not None and seen != wanted:
        raise SystemExit(f"FAILED: {len(wanted - seen)} rows lost, {len(seen - wanted)} rows invented")


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return 1
    except ProcessLookupError:
        return 0


def storm(server, random_source, kills, sink):
    done = {"worker": 0, "server": 0, "both": 0}
    total = 0
    while total < kills:
        time.sleep(random_source.random() ** 2 * 0.12)
        victim = random_source.choices(("worker", "server", "both"), (8, 1, 1))[0]
        killed = 0
        if victim != "server":
            killed = sum(kill(pid) for pid in server.workers())
        if victim != "worker":
            killed += kill(server.process.pid)
            server.process.wait()
            server.start()
        if killed:
            done[victim] += 1
            total += 1
        if total % 100 == 0 and killed:
            numbers = read_output(server.root, sink)
            check(numbers)
            print(f"  {total} kills, {len(numbers)} rows out", file=sys.stderr, flush=True)
    return done


def finish(server):
    """Waits, with a deadline, until everything that was fed has been processed."""
    deadline = time.monotonic() + 120
    last = None
    while time.monotonic() < deadline:
        try:
            server.call("POST", "/v1/queries/storm/processAllAvailable", {"timeout": "60 seconds"}, timeout=90)
            return
        except urllib.error.HTTPError as e:
            last = e.read().decode()
        except (urllib.error.URLError, OSError) as e:
            last = str(e)
        time.sleep(0.1)
    raise SystemExit(f"FAILED: the query did not catch up: {last}")


def rows_spilled(server):
    """Of the state in the newest batch that says so."""
    documents = server.call("GET", "/v1/queries/storm/progress?last=100")
    found = [state.get("customMetrics", {}).get("numRowsSpilled", 0)
             for document in documents["progress"]
             for state in document.get("stateOperators", [])]
    return max(found, default=0)


def query(root, kind, sink):
    document = {
        "name": "storm",
        "sources": {"s": {"format": "json", "schema": "id BIGINT, keep BOOLEAN, key BIGINT, at TIMESTAMP",
                          "options": {"path": f"{root}/in", "maxFilesPerTrigger": 20}}},
        "sql": "SELECT CAST(id AS STRING) AS value FROM s WHERE keep" if sink == "text" else
               "SELECT id, id % 7 AS part FROM s WHERE keep" if sink == "partitioned" else
               "SELECT id FROM s WHERE keep",
        "sink": {"format": sink if sink not in ("partitioned", "metadata") else "json",
                 "options": {**SINKS[sink], **({} if sink in ("console", "memory", "noop") else {"path": f"{root}/out"})},
                 **({"partitionBy": ["part"]} if sink == "partitioned" else {})},
        "restartPolicy": {"maxAttempts": 100000},
        "checkpointLocation": f"{root}/checkpoint"}
    if kind != "filter":
        keep_state(document, kind)
    return document


def keep_state(document, kind):
    """The query is one with a state that does not fit into its memory."""
    source = document["sources"]["s"]
    source["watermark"] = {"column": "at", "delay": "8000 seconds"}
    window = f"window(at, '{SIZE} seconds'" + (f", '{SLIDE} seconds')" if kind == "sliding" else ")")
    document["sql"] = (f"SELECT unix_timestamp(window.start) AS w, key, count(*) AS n, sum(id) AS total FROM s "
                       f"GROUP BY {window}, key")
    if kind == "sessions":
        document["sql"] = (
            "SELECT unix_timestamp(session_window.start) AS w, key, count(*) AS n, sum(id) AS total FROM "
            f"(SELECT id, at, id DIV {BURST} * {BURST // 2} + id % {BURST // 2} AS key FROM s) "
            f"GROUP BY session_window(at, '{GAP} seconds'), key")
    if kind == "join":
        document["sources"]["r"] = source
        document["sql"] = (
            f"SELECT s.id AS left, r.id AS other FROM s LEFT JOIN r ON s.id = r.id + {AHEAD} AND r.keep "
            "AND r.at BETWEEN s.at - INTERVAL 200 SECONDS AND s.at")
    document["limits"] = {"memoryBytes": 1 << 20}
    document["conf"] = {"spark.sql.shuffle.partitions": "4",
                        "spark.sql.streaming.stateStore.minDeltasForSnapshot": "20"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--query", choices=("filter", "windows", "sliding", "sessions", "join"), default="filter")
    parser.add_argument("--sink", choices=SINKS, default="json")
    parser.add_argument("--keep", action="store_true", help="keep the directory")
    a = parser.parse_args()
    print(f"seed {a.seed}", flush=True)
    root = tempfile.mkdtemp(prefix="tidemill-storm-")
    server, stop, fed = Server(os.path.abspath(a.binary), root), threading.Event(), [0]
    feeder = threading.Thread(target=feed, args=(root, stop, fed, 0.004 if a.query == "filter" else 0.03))
    try:
        server.start()
        feeder.start()
        server.call("POST", "/v1/queries", query(root, a.query, a.sink))
        done = storm(server, random.Random(a.seed), a.kills, a.sink)
        stop.set()
        feeder.join()
        finish(server)
        count = fed[0] * ROWS_PER_FILE
        wanted = wanted_of(a.query, count)
        if a.query != "filter":
            spilled = rows_spilled(server)
            close_windows(server, fed[0])
            print(f"rows of the state on the disk at the end: {spilled}")
            if spilled == 0:
                raise SystemExit("FAILED: all of the state fits into memory")
        if a.sink in ("console", "memory", "noop"):
            print(f"kills: {done}; rows in: {count}; it has got through")
        else:
            check(read_output(root, a.sink), wanted)
            print(f"kills: {done}; rows in: {count}; rows out: {len(wanted)}, each exactly once")
    finally:
        stop.set()
        if feeder.is_alive():
            feeder.join()
        if server.process:
            server.process.kill()
            server.process.wait()
        for pid in server.workers():
            kill(pid)
        if a.keep:
            print(f"kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
