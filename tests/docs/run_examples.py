#!/usr/bin/env python3
"""Runs every query of examples/ as a user would, and compares its rows with examples/expected/.

    run_examples.py TIDEMILL [--write] [NAME...]

Queries into files are run by `tidemill run`, twice: the second run adds nothing.  Queries into memory
are submitted to a server.  Rows are compared as a set, those of complete mode in their order.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
SHOWN = "/tmp/tidemill-demo"
DEADLINE_S = 60


class Failed(Exception):
    pass


class Place:
    """A directory with the input, the specs as files, and a server."""

    def __init__(self, tidemill, directory):
        self.tidemill = tidemill
        self.directory = directory
        self.server = None
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TIDEMILL_")}
        subprocess.run([EXAMPLES / "prepare.sh", directory], check=True, stdout=subprocess.DEVNULL)

    def call(self, *arguments):
        done = subprocess.run([self.tidemill, *arguments], capture_output=True, text=True,
                              env=self.environment, cwd=self.directory, timeout=DEADLINE_S)
        if done.returncode != 0:
            raise Failed(f"tidemill {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def serve(self):
        if self.server is not None:
            return
        self.server = subprocess.Popen(
            [self.tidemill, "serve", "--data-dir", f"{self.directory}/server", "--listen", "127.0.0.1:0",
             "--log-file", f"{self.directory}/server.log"],
            stdout=subprocess.PIPE, text=True, env=self.environment, cwd=self.directory)
        line = self.server.stdout.readline()
        if "listens on " not in line:
            raise Failed("the server does not start: " + line)
        self.environment["TIDEMILL_SERVER"] = line.split("listens on ")[1].strip()

    def close(self):
        if self.server is not None:
            self.server.terminate()
            self.server.wait(timeout=DEADLINE_S)


def rows_of_files(path):
    """Lines of all visible files, with the partition that they are in."""
    rows = []
    for file in sorted(path.rglob("*")):
        parts = file.relative_to(path).parts
        if not file.is_file() or any(part.startswith((".", "_")) for part in parts):
            continue
        lines = file.read_text(encoding="utf-8").splitlines()
        if file.name.endswith(".csv"):
            lines = lines[1:]
        where = "/".join(parts[:-1])
        rows += [f"{where}: {line}" if where else line for line in lines]
    return sorted(rows)


def run_file_query(place, spec_file, spec):
    place.call("validate", spec_file)
    place.call("run", spec_file)
    output = pathlib.Path(spec["sink"]["options"]["path"])
    rows = rows_of_files(output)
    place.call("run", spec_file)
    if rows_of_files(output) != rows:
        raise Failed("a second run has changed the output")
    return rows


def run_memory_query(place, spec_file, spec):
    place.serve()
    place.call("submit", spec_file)
    place.call("awaitTermination", spec["name"])
    rows = place.call("results", spec["name"], "-o", "json").splitlines()
    return rows if spec["outputMode"] == "complete" else sorted(rows)


def run_rate_query(place, spec_file, spec):
    """The rows come with the time: the first ones are compared, without their timestamps."""
    place.serve()
    place.call("submit", spec_file)
    place.call("status", spec["name"], "--wait", "RUNNING")
    rows, end = [], time.monotonic() + DEADLINE_S
    while len(rows) < 5 and time.monotonic() < end:
        place.call("trigger", spec["name"])
        rows = place.call("results", spec["name"], "-o", "json").splitlines()
    place.call("rm", spec["name"], "--force")
    values = sorted((json.loads(row) for row in rows), key=lambda row: row["value"])[:5]
    return [json.dumps({k: v for k, v in row.items() if k != "timestamp"}) for row in values]


def run_example(place, name):
    text = (EXAMPLES / f"{name}.json").read_text(encoding="utf-8").replace(SHOWN, place.directory)
    spec = json.loads(text)
    if spec["name"] != name:
        raise Failed(f"it calls itself {spec['name']}")
    if spec["trigger"] == {}:  # it would run for ever
        spec["trigger"] = {"availableNow": True}
        spec["checkpointLocation"] = f"{place.directory}/checkpoints/{name}"
        text = json.dumps(spec)
    spec_file = f"{place.directory}/{name}.json"
    pathlib.Path(spec_file).write_text(text, encoding="utf-8")
    if name == "rate-to-memory":
        return run_rate_query(place, spec_file, spec)
    if spec["sink"]["format"] == "memory":
        return run_memory_query(place, spec_file, spec)
    return run_file_query(place, spec_file, spec)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    names = arguments[1:] or sorted(f.stem for f in EXAMPLES.glob("*.json"))
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tidemill-examples-") as directory:
        place = Place(os.path.abspath(arguments[0]), directory)
        for name in names:
            expected = EXAMPLES / "expected" / f"{name}.txt"
            try:
                rows = run_example(place, name)
                if "--write" in sys.argv:
                    expected.write_text("".join(row + "\n" for row in rows), encoding="utf-8")
                wanted = expected.read_text(encoding="utf-8").splitlines()
                if rows != wanted:
                    raise Failed("rows:\n  " + "\n  ".join(rows) + "\nexpected:\n  " + "\n  ".join(wanted))
                if f"({name}.json)" not in listed:
                    raise Failed("examples/README.md does not list it")
                print(f"{name}: {len(rows)} rows")
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"{name}: FAILED: {error}")
        place.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
