#!/usr/bin/env python3
"""Fills small disks under running queries, and counts what came out when there was space again.

    full_disk.py BINARY [PLACE...] [--keep]

The place of a sink's files, of a checkpoint, of the server's data or of the state that has no room in
memory is a tmpfs of a few megabytes.  Files of numbered rows arrive; then a file fills the disk, and
more rows come: the query waits and says DISK_FULL, its worker is killed meanwhile, and the server
answers.  When the file is gone the query must get through by itself, with every row in the output
exactly once.  Without the right to mount nothing is tested, with exit code 77.  Standard library only.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import kill_storm

ROWS = 4000  # of a file
MEGABYTE = 1 << 20
PLACES = {"sink": 12, "checkpoint": 48, "data": 48, "scratch": 48}  # megabytes of the small disk


class Trial:
    def __init__(self, binary, root, place):
        self.root, self.place, self.files = root, place, 0
        self.small = f"{root}/data" if place == "data" else f"{root}/small"
        os.makedirs(self.small)
        os.makedirs(f"{root}/in")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={PLACES[place]}m", "none", self.small], check=True)
        self.out = f"{self.small}/out" if place == "sink" else f"{root}/out"
        self.server = kill_storm.Server(binary, root)

    def query(self):
        checkpoint = {"data": None, "sink": f"{self.root}/checkpoint"}.get(self.place, f"{self.small}/checkpoint")
        return {
            "name": "storm",
            "sources": {"s": {"format": "json", "schema": "id BIGINT, pad STRING",
                              "options": {"path": f"{self.root}/in", "maxFilesPerTrigger": 2}}},
            "views": [{"name": "d", "from": "s", "dropDuplicates": ["id", "pad"]}],
            "sql": "SELECT id FROM d" if self.place != "sink" else "SELECT id, pad FROM s",
            "sink": {"format": "json", "options": {"path": self.out}},
            **({"checkpointLocation": checkpoint} if checkpoint else {}),
            "conf": {"spark.sql.shuffle.partitions": "2"},
            "restartPolicy": {"maxAttempts": 100000},
            **({"limits": {"memoryBytes": MEGABYTE}} if self.place == "scratch" else {})}

    def feed(self, count):
        """Each row twice where duplicates are dropped."""
        for _ in range(count):
            first, times = self.files * ROWS, 1 if self.place == "sink" else 2
            with open(f"{self.root}/incoming", "w", encoding="utf-8") as f:
                for i in range(first, first + ROWS):
                    f.write((json.dumps({"id": i, "pad": f"{i:0100d}"}) + "\n") * times)
            os.rename(f"{self.root}/incoming", f"{self.root}/in/{self.files:08d}.json")
            self.files += 1

    def fill(self):
        with open(f"{self.small}/filler", "wb", buffering=0) as f:
            size = MEGABYTE
            while size > 0:
                try:
                    f.write(b"x" * size)
                except OSError:
                    size //= 2

    def free(self):
        os.remove(f"{self.small}/filler")

    def status(self):
        return self.server.call("GET", "/v1/queries/storm/status")

    def await_full(self):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            status = self.status()
            if "DISK_FULL" in json.dumps(status):
                return status
            time.sleep(0.02)
        raise SystemExit(f"FAILED: the disk is full, and nobody says so: {status}")

    def rows(self):
        numbers = []
        for name in sorted(os.listdir(self.out)):
            if not name.startswith((".", "_")):
                with open(f"{self.out}/{name}", encoding="utf-8") as f:
                    text = f.read()
                if text and not text.endswith("\n"):
                    raise SystemExit(f"FAILED: {name} ends in the middle of a line")
                numbers += [json.loads(line)["id"] for line in text.splitlines()]
        return numbers

    def play(self):
        self.server.start()
        self.server.call("POST", "/v1/queries", self.query())
        self.feed(4)
        kill_storm.finish(self.server)
        for turn in range(2):
            self.fill()
            self.feed(6)
            status = self.await_full()
            kill_storm.check(self.rows())
            for pid in self.server.workers():
                kill_storm.kill(pid)
            if turn == 1:
                self.server.process.kill()
                self.server.process.wait()
                self.server.start()
            status = self.await_full()
            self.free()
            kill_storm.finish(self.server)
            kill_storm.check(self.rows(), set(range(self.files * ROWS)))
        print(f"{self.place}: full twice ({status.get('state')}), then {self.files * ROWS} rows, each exactly once")

    def end(self):
        if self.server.process:
            self.server.process.kill()
            self.server.process.wait()
        for pid in self.server.workers():
            kill_storm.kill(pid)
        time.sleep(0.1)
        subprocess.run(["umount", "-l", self.small], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("places", nargs="*", metavar="PLACE", help="of " + ", ".join(PLACES))
    parser.add_argument("--keep", action="store_true", help="leave the directory behind")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if not a.inside:  # mounts are seen by this program and its children only
        space = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*space, "mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL,
                          check=False).returncode != 0:
            print("skipped: nothing can be mounted here")
            sys.exit(77)
        os.execvp("unshare", [*space, sys.executable, *sys.argv, "--inside"])
    for place in a.places or PLACES:
        root = tempfile.mkdtemp(prefix="tidemill-full-")
        trial = Trial(os.path.abspath(a.binary), root, place)
        try:
            trial.play()
        finally:
            trial.end()
            if a.keep:
                print(f"kept: {root}")
            else:
                shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
