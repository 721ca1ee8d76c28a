#!/usr/bin/env python3
"""Kills a server and its worker with SIGKILL, over and over, and counts what came out.

    kill_storm.py BINARY [--kills 1000] [--seed N] [--keep] [--mode append|update]

Files of numbered rows arrive all the time; a query filters and writes them to files.  At random
instants the worker dies, or the server, or both; a killed server is started again at once.  At the
end every number that passes the filter must be in the output exactly once, and whoever listed the
output meanwhile must never have seen a torn line or a number twice.  Standard library only.
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


def feed(root, stop, fed):
    """One file after another, each renamed into place whole."""
    os.makedirs(f"{root}/in")
    while not stop.is_set():
        first = fed[0] * ROWS_PER_FILE
        with open(f"{root}/incoming", "w") as f:
            f.writelines(json.dumps({"id": i, "keep": i % 3 != 0}) + "\n" for i in range(first, first + ROWS_PER_FILE))
        os.rename(f"{root}/incoming", f"{root}/in/{fed[0]:08d}.json")
        fed[0] += 1
        stop.wait(0.004)


def read_output(root):
    """All numbers in the visible output; a torn line is an error."""
    numbers = []
    for name in sorted(os.listdir(f"{root}/out")):
        if name.startswith((".", "_")):
            continue
        with open(f"{root}/out/{name}") as f:
            for line in f:
                if not line.endswith("\n"):
                    raise SystemExit(f"FAILED: {name} ends in the middle of a line")
                numbers.append(json.loads(line)["id"])
    return numbers


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


def storm(server, random_source, kills):
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
            check(read_output(server.root))
            print(f"  {total} kills, {len(read_output(server.root))} rows out", file=sys.stderr, flush=True)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true", help="keep the directory")
    a = parser.parse_args()
    print(f"seed {a.seed}", flush=True)
    root = tempfile.mkdtemp(prefix="tidemill-storm-")
    server, stop, fed = Server(os.path.abspath(a.binary), root), threading.Event(), [0]
    feeder = threading.Thread(target=feed, args=(root, stop, fed))
    try:
        server.start()
        feeder.start()
        server.call("POST", "/v1/queries", {
            "name": "storm",
            "sources": {"s": {"format": "json", "schema": "id BIGINT, keep BOOLEAN",
                              "options": {"path": f"{root}/in", "maxFilesPerTrigger": 20}}},
            "sql": "SELECT id FROM s WHERE keep",
            "sink": {"format": "json", "options": {"path": f"{root}/out"}},
            "checkpointLocation": f"{root}/checkpoint"})
        done = storm(server, random.Random(a.seed), a.kills)
        stop.set()
        feeder.join()
        finish(server)
        wanted = {i for i in range(fed[0] * ROWS_PER_FILE) if i % 3 != 0}
        check(read_output(root), wanted)
        print(f"kills: {done}; rows in: {fed[0] * ROWS_PER_FILE}; rows out: {len(wanted)}, each exactly once")
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
