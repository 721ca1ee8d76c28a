#!/usr/bin/env python3
"""Damages every file of a real checkpoint, one at a time: flips bits, cuts it, takes it away.

    damage_walk.py BINARY [--keep]

A query reads numbered rows from files, batch by batch, and stops.  Then, for each damage, a new file
comes and the query is started again.  Either it refuses to start and touches nothing, or every row
is in the output exactly once: never is a file read again in silence.  Standard library only.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

PLACES = 10  # of a file that are flipped, and to which it is cut


class Walk:
    def __init__(self, binary, root, sql, more):
        self.binary, self.root, self.next_row = binary, root, 0
        os.mkdir(root + "/in")
        document = {"name": "walk", "sources": {"s": {"format": "json", "schema": "id BIGINT, at TIMESTAMP", "options": {
            "path": root + "/in", "maxFilesPerTrigger": 1}}}, "sql": sql,
            "sink": {"format": "json", "options": {"path": root + "/out"}},
            "trigger": {"availableNow": True}, "checkpointLocation": root + "/checkpoint", **more}
        with open(root + "/spec.json", "w") as f:
            json.dump(document, f)

    def feed(self):
        with open(f"{self.root}/in/{self.next_row}.json", "w") as f:
            f.write(json.dumps({"id": self.next_row, "at": "2024-01-01 00:00:00"}) + "\n")
        self.next_row += 1

    def run(self):
        done = subprocess.run([self.binary, "run", self.root + "/spec.json"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def rows(self):
        found = []
        for folder, _, names in os.walk(self.root + "/out"):
            for name in names:
                if name.startswith("part-"):
                    with open(os.path.join(folder, name)) as f:
                        found += [json.loads(line)["id"] for line in f]
        return sorted(found)

    def files(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.root + "/checkpoint")
                      for folder, _, names in os.walk(self.root + "/checkpoint") for name in names)

    def keep(self):
        for name in ("checkpoint", "out"):
            shutil.copytree(f"{self.root}/{name}", f"{self.root}/kept-{name}", symlinks=True)

    def restore(self):
        for name in ("checkpoint", "out"):
            shutil.rmtree(f"{self.root}/{name}")
            shutil.copytree(f"{self.root}/kept-{name}", f"{self.root}/{name}", symlinks=True)


def damages(content):
    """What may become of a file: a name for it, and the new content (None: gone)."""
    yield "removed", None
    used = len(content.rstrip(b"\0"))  # behind it only preallocated zeros
    places = sorted({used * i // PLACES for i in range(PLACES)} | {max(used - 1, 0)})
    for at in places:
        yield f"cut to {at}", content[:at]
    for at in places:
        if at < used:
            yield f"bit flipped at {at}", content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1:]


def check(walk, rows_before):
    code, output = walk.run()
    rows = walk.rows()
    if code < 0 or "Sanitizer" in output:
        return f"the program died: {code}\n{output}"
    if code == 0 and rows != list(range(walk.next_row)):
        return f"it went on, and the output has {rows}\n{output}"
    if code != 0 and rows != rows_before:
        return f"it was refused, but the output has {rows}\n{output}"
    return None


def walk_files(walk):
    for _ in range(4):
        walk.feed()
        code, output = walk.run()
        if code != 0:
            raise SystemExit(f"the query failed: {output}")
    walk.keep()
    rows_before, tried, refused, failures = walk.rows(), 0, 0, []
    walk.feed()
    for name in walk.files():
        with open(f"{walk.root}/kept-checkpoint/{name}", "rb") as f:
            content = f.read()
        for what, damaged in damages(content):
            walk.restore()
            path = f"{walk.root}/checkpoint/{name}"
            os.remove(path)
            if damaged is not None:
                with open(path, "wb") as f:
                    f.write(damaged)
            problem = check(walk, rows_before)
            tried += 1
            refused += walk.rows() == rows_before
            if problem is not None:
                failures.append(f"{name} {what}: {problem}")
    print(f"{len(walk.files())} files, {tried} damages, {refused} refused, {len(failures)} wrong")
    for failure in failures:
        print(failure)
    return not failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--keep", action="store_true", help="leave the directory behind")
    arguments = parser.parse_args()
    good = True
    dedup = {"views": [{"name": "d", "from": "s", "dropDuplicates": ["id"]}]}
    for sql, more in (("SELECT id FROM s", {}), ("SELECT id FROM d", dedup)):
        root = tempfile.mkdtemp(prefix="tidemill-damage-")
        print(f"{sql}: {root}")
        good = walk_files(Walk(os.path.abspath(arguments.binary), root, sql, more)) and good
        if not arguments.keep:
            shutil.rmtree(root, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
