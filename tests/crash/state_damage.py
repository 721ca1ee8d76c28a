#!/usr/bin/env python3
"""Damages every file of real checkpoints with state, one at a time and snapshots together.

    state_damage.py BINARY [QUERY...] [--places N] [--log whole|purged|both] [--seed N] [--keep]

For each kind of stateful query a checkpoint is made over several runs, with a snapshot after each
batch: once with a log that has every batch, and once with a log of which the segments that no
snapshot needs are gone.  Then each file is flipped, cut, filled with zeros for a page, taken away or
replaced by the one of another snapshot, the last rows come, and the query is started again.  Either
the output is the same as without damage, from an older snapshot and the changes since, or the start
is refused by name and nothing is touched.  Where a file is damaged: at both ends, in its head, and at
places that the seed draws.  Standard library only.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

FILES_PER_RUN = 2
PAD = 20       # bytes of a row's payload
CLOSE = 3000   # seconds: the rows that close everything
HEAD, PAGE = 64, 4096
SEGMENT = 300  # bytes of a log's segments, if they are to go

WINDOW = "SELECT window.start AS w, k, count(*) AS n, sum(v) AS t, max(length(pad)) AS l, max(pad) > 'a' AS a FROM s"
JOIN = ("SELECT s.k AS k, s.v AS v, r.v AS other, length(s.pad) AS l, length(r.pad) AS rl FROM s {} JOIN r ON s.k = r.k "
        "AND r.at BETWEEN s.at AND s.at + INTERVAL 40 SECONDS WHERE s.at < TIMESTAMP '2024-05-01 00:40:00'")
DEDUP = {"views": [{"name": "d", "from": "s", "dropDuplicates": ["k", "v", "pad", "at"]}]}
WITHIN = {"views": [{"name": "d", "from": "s", "dropDuplicatesWithinWatermark": ["k", "v", "pad"]}]}
QUERIES = {
    "aggregate": (f"{WINDOW} GROUP BY window(at, '20 seconds'), k", {}),
    "panes": (f"{WINDOW} GROUP BY window(at, '30 seconds', '8 seconds'), k", {}),
    "sessions": ("SELECT session_window.start AS w, session_window.end AS e, k, count(*) AS n, sum(v) AS t, "
                 "max(length(pad)) AS l, max(pad) > 'a' AS a FROM s GROUP BY session_window(at, '10 seconds'), k", {}),
    "dedup": ("SELECT k, v, length(pad) AS l FROM d", DEDUP),
    "within_watermark": ("SELECT k, v, length(pad) AS l FROM d", WITHIN),
    "limit": ("SELECT k, v, length(pad) AS l FROM s LIMIT 40", {}),
    "join": (JOIN.format("INNER"), {}),
    "outer_join": (JOIN.format("LEFT OUTER"), {}),
    "lists": ("SELECT window.start AS w, approx_count_distinct(pad) AS n, size(collect_list(pad)) AS c, "
              "percentile(v, 0.5) AS p FROM s GROUP BY window(at, '20 seconds')", {}),
}


def stamp(seconds):
    return f"2024-05-01 {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def pad(number, size):
    return random.Random(number).randbytes(size // 2 + 1).hex()[:size]


class Case:
    """One query with its files, in a directory of its own."""

    def __init__(self, binary, root, name, purged):
        self.binary, self.root, self.join, self.purged = binary, root, "join" in name, purged
        self.runs, self.seconds = (8, 20) if purged else (4, 3)
        sql, more = QUERIES[name]
        os.makedirs(root)
        sources = {}
        for source in ("s", "r") if self.join else ("s",):
            os.mkdir(f"{root}/{source}")
            sources[source] = {"format": "json", "schema": "k BIGINT, v BIGINT, at TIMESTAMP, pad STRING",
                               "options": {"path": f"{root}/{source}", "maxFilesPerTrigger": 1},
                               "watermark": {"column": "at", "delay": "60 seconds"}}
        document = {"name": name, "sources": sources, "sql": sql, "outputMode": "append",
                    "conf": {"spark.sql.streaming.stateStore.minDeltasForSnapshot": "1",
                             "spark.sql.streaming.minBatchesToRetain": "2", "spark.sql.shuffle.partitions": "2",
                             **({"logSegmentBytes": str(SEGMENT)} if purged else {})},
                    "sink": {"format": "json", "options": {"path": f"{root}/out"}}, "trigger": {"availableNow": True},
                    "checkpointLocation": f"{root}/checkpoint", **more}
        with open(f"{root}/spec.json", "w", encoding="utf-8") as f:
            json.dump(document, f)

    def write(self, source, name, rows):
        with open(f"{self.root}/{source}/{name}.json", "w", encoding="utf-8") as f:
            f.writelines(json.dumps(row) + "\n" for row in rows)

    def row(self, number):
        return {"k": number % 3, "v": number, "at": stamp(self.seconds * number), "pad": pad(number, PAD)}

    def feed(self, number):
        self.write("s", f"{number:02d}", [self.row(number), dict(self.row(number), k=7, v=200 + number)])
        if self.join:
            self.write("r", f"{number:02d}",
                       [dict(self.row(number), v=100 + number, at=stamp(self.seconds * number + 4))])

    def feed_last(self):
        """What meets all of the state, and what closes it."""
        count = self.runs * FILES_PER_RUN
        # A log without its newest batch, if that had no rows, is that of a crash before it.  Rows that only
        # that batch made late are left out: what becomes of them may be either.
        again = [i for i in range(count) if not count - 5 <= i < count - 2]
        self.write("s", "90", [self.row(i) for i in again] + [dict(self.row(i), v=50 + i) for i in again])
        for i in range(2):
            for source in ("s", "r") if self.join else ("s",):
                self.write(source, f"{91 + i}", [{"k": 9, "v": 0, "at": stamp(CLOSE + i), "pad": "z"}])

    def run(self):
        done = subprocess.run([self.binary, "run", self.root + "/spec.json"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def rows(self):
        found = []
        for name in os.listdir(self.root + "/out") if os.path.isdir(self.root + "/out") else ():
            if name.startswith("part-"):
                with open(f"{self.root}/out/{name}", encoding="utf-8") as f:
                    found += f.readlines()
        return sorted(found)

    def keep(self):
        """Hard links between snapshots stay so."""
        for name in ("checkpoint", "out"):
            if os.path.isdir(f"{self.root}/{name}"):
                subprocess.run(["cp", "-a", f"{self.root}/{name}", f"{self.root}/kept-{name}"], check=True)

    def restore(self):
        for name in ("checkpoint", "out"):
            shutil.rmtree(f"{self.root}/{name}", ignore_errors=True)
            if os.path.isdir(f"{self.root}/kept-{name}"):
                subprocess.run(["cp", "-a", f"{self.root}/kept-{name}", f"{self.root}/{name}"], check=True)

    def path(self, name):
        return f"{self.root}/checkpoint/{name}"

    def files(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.root + "/checkpoint")
                      for folder, _, names in os.walk(self.root + "/checkpoint") for name in names)

    def snapshots(self):
        return sorted(name for name in os.listdir(self.path("state")) if re.fullmatch(r"snapshot-\d+", name))


# ---- damages: each a text, and what does it to the checkpoint ----

def replace(path, content):
    """A new file: other snapshots that share the old one keep it."""
    os.remove(path)
    with open(path, "wb") as f:
        f.write(content)


def overwrite(path, content):
    """The same file, also where other snapshots share it."""
    with open(path, "r+b") as f:
        f.truncate(len(content))
        f.write(content)


def of_content(case, name, places, draw):
    path = case.path(name)
    with open(path, "rb") as f:
        content = f.read()
    used = len(content.rstrip(b"\0"))  # behind it only preallocated zeros
    shared = os.stat(path).st_nlink > 1
    last = max(used - 1, 0)
    drawn = {draw.randrange(last + 1) for _ in range(places)}
    for at in sorted({0, last} | drawn):
        yield f"cut to {at}", lambda at=at: replace(path, content[:at])
    for at in sorted({0, draw.randrange(min(HEAD, last + 1)), last} | drawn):
        if at < used:
            flipped = content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1:]
            yield f"flipped at {at}", lambda flipped=flipped: replace(path, flipped)
            if shared:
                yield f"flipped at {at}, wherever it is shared", lambda flipped=flipped: overwrite(path, flipped)
    for page in sorted({at // PAGE for at in {0, last} | drawn}):
        zeroed = (content[:page * PAGE] + bytes(PAGE) + content[(page + 1) * PAGE:])[:len(content)]
        if zeroed != content:
            yield f"zeros in page {page}", lambda zeroed=zeroed: replace(path, zeroed)


def of_file(case, name, places, draw):
    path = case.path(name)
    yield "removed", lambda: os.remove(path)
    yield from of_content(case, name, places, draw)
    folder, file = os.path.split(name)
    kind = file.split("-")[0]
    for other in case.snapshots() if "snapshot-" in folder else ():
        there = case.path("state/" + other)
        for candidate in os.listdir(there) if other not in folder else ():
            source = f"{there}/{candidate}"
            alike = candidate == file or ("-" in file and candidate.split("-")[0] == kind)
            if alike and not os.path.samefile(source, path):
                with open(source, "rb") as f:
                    yield f"that of {other}", lambda content=f.read(): replace(path, content)


def of_snapshots(case):
    """More than one thing at once, and whole snapshots."""
    names = case.snapshots()
    for name in names:
        path = case.path("state/" + name)
        yield f"{name} removed", lambda path=path: shutil.rmtree(path)
        after = path[:-20] + f"{int(name[9:]) + 1:020d}"
        if not os.path.exists(after):
            yield f"{name} under the next version", lambda path=path, after=after: os.rename(path, after)
    if len(names) > 1:
        newest, oldest = case.path("state/" + names[-1]), case.path("state/" + names[0])
        yield "the oldest snapshot as the newest", lambda: (shutil.rmtree(newest), shutil.copytree(oldest, newest))
        yield "no list in any snapshot", lambda: [
            os.remove(case.path(f"state/{name}/MANIFEST.tidemill")) for name in names]
        for file in os.listdir(oldest):
            yield f"the newest snapshot removed, {file} of the oldest flipped", lambda file=file: (
                shutil.rmtree(newest), flip_middle(f"{oldest}/{file}"))
    yield "no snapshots", lambda: shutil.rmtree(case.path("state"))


def flip_middle(path):
    with open(path, "rb") as f:
        content = f.read()
    at = len(content) // 2
    replace(path, content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1:])


# ---- the walk ----

def check(case, rows_before, expected, counts):
    code, output = case.run()
    rows = case.rows()
    named = re.search(r"\b(CHECKPOINT[.A-Z_]+|[A-Z]+(?:_[A-Z]+)+)\b", output)
    if code < 0 or "Sanitizer" in output:
        return f"the program died: {code}\n{output[-3000:]}"
    if code == 0 and rows != expected:
        return f"it went on, and the output has\n{''.join(rows)}in the place of\n{''.join(expected)}{output[-2000:]}"
    if code != 0 and rows != rows_before:
        return f"it was refused, but the output has\n{''.join(rows)}\n{output[-2000:]}"
    if code != 0 and named is None:
        return f"it was refused without a name\n{output[-2000:]}"
    how = "went on" if code == 0 else named.group(1)
    counts[how] = counts.get(how, 0) + 1
    return None


def make(case):
    for number in range(case.runs * FILES_PER_RUN):
        case.feed(number)
        if number % FILES_PER_RUN == FILES_PER_RUN - 1:
            code, output = case.run()
            if code != 0:
                raise SystemExit(f"the query failed: {output}")
    case.keep()
    has_first = os.path.exists(case.path("log/" + "0" * 20))
    if len(case.snapshots()) < 2 or case.purged == has_first:
        raise SystemExit(f"not the checkpoint that was to be tried: {case.files()}")


def walk(case, places, draw):
    make(case)
    rows_before = case.rows()
    case.feed_last()
    code, output = case.run()
    expected = case.rows()
    if code != 0 or len(expected) <= len(rows_before):
        raise SystemExit(f"the undisturbed run failed: {output}")
    case.restore()
    todo = [(name, what, do) for name in case.files() for what, do in of_file(case, name, places, draw)
            if not name.startswith("state/db/")]
    todo += [("together", what, do) for what, do in of_snapshots(case)]
    counts, failures = {}, []
    for name, what, do in todo:
        case.restore()
        do()
        problem = check(case, rows_before, expected, counts)
        if problem is not None:
            failures.append(f"{name} {what}: {problem}")
    print(f"  {len(todo)} damages: " + ", ".join(f"{n} {how}" for how, n in sorted(counts.items())) +
          f"; {len(failures)} wrong", flush=True)
    for failure in failures:
        print(failure)
    return not failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("queries", nargs="*", metavar="QUERY", help="of " + ", ".join(QUERIES))
    parser.add_argument("--places", type=int, default=1, help="that are drawn in each file")
    parser.add_argument("--log", choices=("whole", "purged", "both"), default="both",
                        help="whether the log has all batches, or begins at a snapshot")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true", help="leave the directory behind")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # nothing has to be durable
    root, good = tempfile.mkdtemp(prefix="tidemill-damage-", dir=memory), True
    for name in arguments.queries or QUERIES:
        for log in ("whole", "purged") if arguments.log == "both" else (arguments.log,):
            place, draw = f"{root}/{name}-{log}", random.Random(f"{arguments.seed} {name} {log}")
            print(f"{name}, {'a log that begins at a snapshot' if log == 'purged' else 'the whole log'}", flush=True)
            case = Case(os.path.abspath(arguments.binary), place, name, log == "purged")
            good = walk(case, arguments.places, draw) and good
            if not arguments.keep:
                shutil.rmtree(place, ignore_errors=True)
    if not arguments.keep:
        shutil.rmtree(root, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
