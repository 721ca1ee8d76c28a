#!/usr/bin/env python3
"""Measures what a running server costs: memory when idle, and what status reads take from a query.

    measure.py BINARY [idle] [status] [sync] [latency] [seen] [big] [lines] [nested] [spill] [keys]  without a word: idle status sync

idle    PSS of an idle worker and of a server with 100 stopped queries
status  throughput of a saturated query (parallelism 1) with and without 1,000 status reads a second
sync    what an fdatasync of a small appended file takes here: to be set against the latency
latency file renamed in to batch reported: the median, what of it the disk took for the syncs of the
        same run, and the rest; also for batches that write no row.  Needs the target sync_count
seen    the list of 10 million files read, and of 1 million in one batch.  Needs the target bench_seen
big     memory while reading a 5 GB file, a 100 MB line and a million files (slow; needs the disk)
lines   memory while reading a line of 100 MB: each format, each mode
nested  memory while reading a million files in a thousand directories (slow)
spill   10 million keys -> count, sum in update mode: all in memory, and with a limit of a tenth of what
        the state takes there (SPILL_KEYS and SPILL_ROWS, rows of a batch, make it smaller or larger);
        what the largest RSS grows by is against the same query with a hundred keys
keys    bytes of state for a key of a BIGINT -> count, sum, as progress tells them, where all keys come in one
        batch: at sizes from 100,000 to 3 million

One JSON line per result.  Standard library only.
"""
import json
import mmap
import os
import random
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zlib


class Server:
    def __init__(self, binary, *arguments):
        self.root = tempfile.mkdtemp(prefix="tidemill-measure-")
        self.process = subprocess.Popen(
            [binary, "serve", "--data-dir", self.root + "/data", "--listen", "127.0.0.1:0",
             "--log-file", self.root + "/log", *arguments], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        self.url = line.split()[-1].rstrip("/")

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.loads(answer.read() or b"null")

    def workers(self):
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(children) as f:
            return [int(pid) for pid in f.read().split()]

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.root, ignore_errors=True)


def memory_kib(pid, key="Pss:"):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key))


def show(**result):
    print(json.dumps(result), flush=True)


def spec(server, name, **more):
    return {"name": name,
            "sources": {"s": {"format": "json", "schema": "id BIGINT, text STRING",
                              "options": {"path": server.root + "/in", **more.pop("options", {})}}},
            "sql": "SELECT id, text FROM s WHERE id % 2 = 0",
            "sink": {"format": "json", "options": {"path": f"{server.root}/out-{name}"}}, **more}


def idle(binary):
    server = Server(binary)
    try:
        os.mkdir(server.root + "/in")
        with open(server.root + "/in/a.json", "w") as f:
            f.writelines(json.dumps({"id": i, "text": "x" * 50}) + "\n" for i in range(1000))
        server.call("POST", "/v1/queries", spec(server, "one"))
        server.call("POST", "/v1/queries/one/processAllAvailable", {"timeout": "30 seconds"})
        worker, = server.workers()
        time.sleep(3)  # the worker gives memory back when it has been idle for a while
        show(measure="idle_worker", pss_kib=memory_kib(worker), private_kib=memory_kib(worker, "Private_Dirty:"),
             limit_kib=8192)
        server.call("POST", "/v1/queries/one/stop")
        for i in range(100):
            server.call("POST", "/v1/queries", {**spec(server, f"q{i}"), "desiredState": "STOPPED"})
        time.sleep(1)
        show(measure="idle_server_100_stopped", pss_kib=memory_kib(server.process.pid), limit_kib=32768)
    finally:
        server.close()


def read_status(server, stop, per_second, counts):
    """Reads the status over one connection; with so little of Python that it is the server that is measured."""
    host, port = server.url.split("//")[1].split(":")
    request = f"GET /v1/queries/busy/status HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begin, done = time.monotonic(), 0
        while not stop.is_set():
            connection.sendall(request)
            answer = connection.recv(65536)
            head = answer.index(b"\r\n\r\n") + 4
            length = int(answer[:head].lower().split(b"content-length:")[1].split(b"\r\n")[0])
            while len(answer) < head + length:
                answer += connection.recv(65536)
            counts[0] += answer.startswith(b"HTTP/1.1 200 ")
            done += 1
            ahead = begin + done / per_second - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)


def saturated_seconds(binary, reads):
    server = Server(binary)
    try:
        os.mkdir(server.root + "/in")
        line = "".join(json.dumps({"id": i, "text": "x" * 100}) + "\n" for i in range(100000))
        for i in range(40):
            with open(f"{server.root}/in/{i}.json", "w") as f:
                f.write(line)
        stop, counts = threading.Event(), [0]
        begin = time.monotonic()
        server.call("POST", "/v1/queries", spec(server, "busy", conf={"parallelism": "1"},
                                                options={"maxFilesPerTrigger": 1}, trigger={"availableNow": True}))
        reader = threading.Thread(target=read_status, args=(server, stop, 1000, counts))
        if reads:
            reader.start()
        server.call("POST", "/v1/queries/busy/awaitTermination", {"timeout": "120 seconds"})
        wall = time.monotonic() - begin
        stop.set()
        if reads:
            reader.join()
        documents = server.call("GET", "/v1/queries/busy/progress?last=100")
        documents = documents.get("progress", documents) if isinstance(documents, dict) else documents
        return sum(d["durationMs"]["triggerExecution"] for d in documents) / 1000, counts[0] / wall
    finally:
        server.close()


def status(binary):
    ratios, rates = [], []
    for pair in range(10):  # the order alternates, so that a machine that becomes slower favours neither
        seconds = {}
        for reads in (False, True) if pair % 2 else (True, False):
            seconds[reads], rate = saturated_seconds(binary, reads)
            if reads:
                rates.append(rate)
        ratios.append(seconds[True] / seconds[False])
    show(measure="status_reads", reads_per_s=round(statistics.median(rates)),
         slower_by=round(statistics.median(ratios) - 1, 4), limit=0.05)


def sync(_binary):
    with tempfile.NamedTemporaryFile(dir=".") as f:
        os.posix_fallocate(f.fileno(), 0, 1 << 20)
        os.fsync(f.fileno())
        times = []
        for i in range(300):
            os.pwrite(f.fileno(), b"x" * 4096, i * 1024)
            begin = time.perf_counter()
            os.fdatasync(f.fileno())
            times.append((time.perf_counter() - begin) * 1000)
    show(measure="fdatasync", p50_ms=round(statistics.median(times), 3), p99_ms=round(sorted(times)[296], 3))


def built(binary, name):
    """A helper of the build that `binary` comes from."""
    path = os.path.join(os.path.dirname(binary), "tests", "bench", name)
    if not os.path.exists(path):
        raise SystemExit(f"{path} is missing: build the target {name.split('.')[0].removeprefix('lib')}")
    return path


class CountedRun:
    """`tidemill run` over a directory, with its syncs counted."""

    def __init__(self, binary, where):
        self.root = tempfile.mkdtemp(prefix="tidemill-measure-", dir=".")
        os.mkdir(self.root + "/in")
        document = {"name": "latency", "sources": {"s": {"format": "json", "schema": "id BIGINT", "options": {
            "path": os.path.abspath(self.root) + "/in"}}}, "sql": f"SELECT id FROM s WHERE {where}",
            "sink": {"format": "json", "options": {"path": os.path.abspath(self.root) + "/out"}},
            "checkpointLocation": os.path.abspath(self.root) + "/checkpoint"}
        with open(self.root + "/spec.json", "w") as f:
            json.dump(document, f)
        with open(self.root + "/page", "wb") as f:
            f.truncate(4096)
        self.page = open(self.root + "/page", "rb")
        self.view = mmap.mmap(self.page.fileno(), 4096, prot=mmap.PROT_READ)
        environment = {**os.environ, "LD_PRELOAD": built(binary, "libsync_count.so"),
                       "SYNC_COUNT_FILE": os.path.abspath(self.root) + "/page"}
        self.process = subprocess.Popen([binary, "run", self.root + "/spec.json", "-o", "json"],
                                        stdout=subprocess.PIPE, env=environment)

    def syncs(self):
        calls, nanoseconds = struct.unpack_from("<QQ", self.view)
        return calls, nanoseconds / 1e6

    def batch(self, number):
        """Milliseconds until the batch is reported, the syncs until then, and their milliseconds."""
        hidden = f"{self.root}/in/.{number}"
        with open(hidden, "w") as f:
            f.write(json.dumps({"id": number}) + "\n")
        time.sleep(0.02)  # so that each file is a batch of its own
        calls, spent = self.syncs()
        begin = time.perf_counter()
        os.rename(hidden, f"{self.root}/in/{number}.json")
        while json.loads(self.process.stdout.readline()).get("numInputRows", 0) == 0:
            pass
        took = (time.perf_counter() - begin) * 1000
        now_calls, now_spent = self.syncs()
        return took, now_calls - calls, now_spent - spent

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.view.close()
        self.page.close()
        shutil.rmtree(self.root, ignore_errors=True)


def latency(binary):
    for name, where in (("latency", "id >= 0"), ("latency_no_rows", "id < 0")):
        run = CountedRun(binary, where)
        try:
            batches = [run.batch(i) for i in range(320)][20:]
        finally:
            run.close()
        show(measure=name, batches=len(batches), p50_ms=round(statistics.median(b[0] for b in batches), 3),
             p50_syncs_ms=round(statistics.median(b[2] for b in batches), 3),
             p50_without_syncs_ms=round(statistics.median(b[0] - b[2] for b in batches), 3),
             syncs_per_batch=round(statistics.mean(b[1] for b in batches), 2),
             limit_without_syncs_ms=1.5 if name == "latency" else 1.0)


def seen(binary):
    for files, per_batch in ((10000000, 1000), (1000000, 1000000)):
        root = tempfile.mkdtemp(prefix="tidemill-measure-", dir=".")
        try:
            subprocess.run([built(binary, "bench_seen"), root, str(files), str(per_batch)], check=True)
        finally:
            shutil.rmtree(root, ignore_errors=True)


def peak_mib(binary, root, name, write, format_="json", sql="SELECT id FROM s WHERE id % 100 = 0", **options):
    os.mkdir(root + "/in")
    write(root + "/in")
    source = {"format": format_, "options": {"path": root + "/in", **options}}
    if format_ != "text":
        source["schema"] = "id BIGINT, text STRING, _corrupt_record STRING"
    document = {"name": name, "sources": {"s": source}, "sql": sql,
        "sink": {"format": "json", "options": {"path": root + "/out"}}, "trigger": {"availableNow": True},
        "checkpointLocation": root + "/checkpoint"}
    with open(root + "/spec.json", "w") as f:
        json.dump(document, f)
    begin = time.monotonic()
    process = subprocess.Popen([binary, "run", root + "/spec.json", "-o", "json"], stdout=subprocess.DEVNULL)
    peak = 0  # what wait4 says counts this process, too: a child begins with its parent's memory
    while process.poll() is None:
        with open(f"/proc/{process.pid}/status") as f:
            peak = max([peak] + [int(line.split()[1]) for line in f if line.startswith("VmHWM:")])
        time.sleep(0.002)
    show(measure=name, exit_code=process.returncode, peak_rss_mib=peak // 1024, seconds=round(time.monotonic() - begin, 1))


def big_file(folder):
    line = json.dumps({"id": 100, "text": "y" * 4000}) + "\n"
    block = (line * 256).encode()
    with open(folder + "/big.json", "wb") as f:
        for _ in range(5 * (1 << 30) // len(block)):
            f.write(block)


def long_line(folder):
    with open(folder + "/long.json", "w") as f:
        f.write('{"id": 100, "text": "' + "z" * (100 << 20) + '"}\n')


def writer_of(*parts):
    def write(folder):
        with open(folder + "/long", "w") as f:
            for part in parts:
                f.write(part)
    return write


LONG = "z" * (100 << 20)
CUT = writer_of('{"id": 100, "text": "', LONG, "\n")
LINES = (
    ("json_multiLine", writer_of('[{"id": 100, "text": "', LONG, '"}]'), "json", {"multiLine": "true"}),
    ("json_cut_PERMISSIVE", CUT, "json", {}),
    ("json_cut_DROPMALFORMED", CUT, "json", {"mode": "DROPMALFORMED"}),
    ("json_cut_FAILFAST", CUT, "json", {"mode": "FAILFAST"}),
    ("csv", writer_of("100,", LONG, "\n"), "csv", {"maxCharsPerColumn": "-1"}),
    ("csv_the_limit_of_a_value", writer_of("100,", LONG, "\n"), "csv", {"maxCharsPerColumn": "1000"}),
    ("csv_multiLine", writer_of('100,"', LONG, '\nmore"\n'), "csv", {"multiLine": "true"}),
    ("csv_cut_DROPMALFORMED", writer_of('x,"', LONG, "\n"), "csv", {"mode": "DROPMALFORMED"}),
    ("text", writer_of(LONG, "\n"), "text", {}),
    ("text_wholetext", writer_of(LONG, "\n"), "text", {"wholetext": "true"}),
)


def lines(binary):
    for name, write, format_, options in LINES:
        root = tempfile.mkdtemp(prefix="tidemill-measure-")
        sql = "SELECT length(value) AS n FROM s" if format_ == "text" else "SELECT id, length(text) AS n, " \
            "length(_corrupt_record) AS c FROM s"
        try:
            peak_mib(binary, root, "line_100m_" + name, write, format_, sql, **options)
        finally:
            shutil.rmtree(root, ignore_errors=True)


def nested_files(folder):
    for d in range(1000):
        os.makedirs(f"{folder}/{d % 10}/{d}")
        for i in range(1000):
            with open(f"{folder}/{d % 10}/{d}/{i}.json", "w") as f:
                f.write('{"id": %d, "text": "t"}\n' % i)


def nested(binary):
    root = tempfile.mkdtemp(prefix="tidemill-measure-")
    try:
        peak_mib(binary, root, "files_1m_nested", nested_files, recursiveFileLookup="true")
    finally:
        shutil.rmtree(root, ignore_errors=True)


def many_files(folder):
    for i in range(1000000):
        with open(f"{folder}/{i}.json", "w") as f:
            f.write('{"id": %d, "text": "t"}\n' % i)


def big(binary):
    for name, write in (("big_file_5g", big_file), ("long_line_100m", long_line), ("files_1m", many_files)):
        root = tempfile.mkdtemp(prefix="tidemill-measure-")
        try:
            peak_mib(binary, root, name, write)
        finally:
            shutil.rmtree(root, ignore_errors=True)


def spill_files(folder, keys, rows):
    """Every key once, in no order, and then as many rows of random keys."""
    step, at = 7368787 if keys > 7368787 else 7919, 0
    draw = random.Random(1)
    for file in range(2 * keys // rows):
        if file < keys // rows:
            numbers = [(at + i) * step % keys for i in range(rows)]
            at += rows
        else:
            numbers = draw.choices(range(keys), k=rows)
        with open(f"{folder}/{file:06}.csv", "w") as f:
            f.write("".join(f"{key},{key % 1000}\n" for key in numbers))
        os.utime(f"{folder}/{file:06}.csv", (1700000000 + file, 1700000000 + file))


def spill_run(binary, root, name, limit, key="k"):
    document = {"name": name, "sources": {"s": {"format": "csv", "schema": "k BIGINT, v BIGINT", "options": {
        "path": root + "/in", "maxFilesPerTrigger": 1}}}, "outputMode": "update", "trigger": {"availableNow": True},
        "sql": f"SELECT {key} AS k, count(*) AS c, sum(v) AS s FROM s GROUP BY {key} "
               f"HAVING ({key} + count(*) * 0) % 997 = 0",
        "sink": {"format": "console", "options": {"numRows": 1000000}},
        "checkpointLocation": f"{root}/{name}"}
    if limit:
        document["limits"] = {"memoryBytes": limit}
    with open(root + "/spec.json", "w") as f:
        json.dump(document, f)
    begin = time.monotonic()
    with open(f"{root}/{name}.txt", "w") as out, open(f"{root}/{name}.log", "w") as log:
        process = subprocess.Popen([binary, "run", root + "/spec.json"], stdout=out, stderr=log)
        _, status_, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    digest, rows = 0, 0
    with open(f"{root}/{name}.txt") as out:
        for line in out:
            if line.startswith("|") and any(c.isdigit() for c in line):
                cells = line.split("|")
                digest = (digest + zlib.crc32("|".join(c.strip() for c in cells).encode())) % (1 << 64)
                rows += 1
    return {"exit_code": os.waitstatus_to_exitcode(status_), "seconds": round(seconds, 1),
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
            "peak_rss_mib": usage.ru_maxrss // 1024, "digest": digest, "sampled_rows": rows}


def spill(binary):
    keys = int(os.environ.get("SPILL_KEYS", 10000000))
    rows = int(os.environ.get("SPILL_ROWS", 250000))
    root = tempfile.mkdtemp(prefix="tidemill-measure-", dir=os.environ.get("SPILL_DIR"))
    try:
        os.mkdir(root + "/in")
        maker = os.fork()  # its memory would count as that of those who are started later
        if maker == 0:
            spill_files(root + "/in", keys, rows)
            os._exit(0)
        os.waitpid(maker, 0)
        few = spill_run(binary, root, "few", 0, "k % 100")
        whole = spill_run(binary, root, "memory", 0)
        state = keys * 80
        tenth = spill_run(binary, root, "spilled", max(state // 10, 1 << 20))
        show(measure="spill", keys=keys, rows=2 * keys, rows_per_batch=rows,
             limit_mib=max(state // 10, 1 << 20) >> 20, few_keys=few, in_memory=whole, spilled=tenth,
             same=whole["digest"] == tenth["digest"],
             ratio=round(tenth["seconds"] / whole["seconds"], 2), limit_ratio=4,
             cpu_ratio=round(tenth["cpu_seconds"] / whole["cpu_seconds"], 2),
             grows_by_mib=tenth["peak_rss_mib"] - few["peak_rss_mib"])
    finally:
        shutil.rmtree(root, ignore_errors=True)


def state_bytes(binary, root, keys):
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root + "/in")
    with open(root + "/in/0.csv", "w") as f:
        f.writelines(f"{key * 7},{key}\n" for key in range(keys))
    with open(root + "/spec.json", "w") as f:
        json.dump({"name": "keys", "sources": {"s": {"format": "csv", "schema": "k BIGINT, v BIGINT", "options": {
            "path": root + "/in"}}}, "outputMode": "update", "trigger": {"availableNow": True},
            "sql": "SELECT k, count(*) AS c, sum(v) AS s FROM s GROUP BY k", "sink": {"format": "noop"},
            "checkpointLocation": root + "/checkpoint"}, f)
    out = subprocess.run([binary, "run", root + "/spec.json", "-o", "json"], check=True, capture_output=True, text=True).stdout
    batches = [json.loads(line) for line in out.splitlines() if '"stateOperators"' in line]
    return batches[-1]["stateOperators"][0]


def keys_(binary):
    root = tempfile.mkdtemp(prefix="tidemill-measure-")
    try:
        for keys in (100000, 200000, 500000, 1000000, 1700000, 2000000, 3000000):
            state = state_bytes(binary, root + "/run", keys)
            assert state["numRowsTotal"] == keys, state
            show(measure="keys", keys=keys, memory_bytes=state["memoryUsedBytes"],
                 bytes_per_key=round(state["memoryUsedBytes"] / keys, 1), limit=80)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    binary = os.path.abspath(sys.argv[1])
    for word in sys.argv[2:] or ["idle", "status", "sync"]:
        {"idle": idle, "status": status, "sync": sync, "latency": latency, "seen": seen, "big": big, "lines": lines, "nested": nested,
         "spill": spill, "keys": keys_}[word](binary)


if __name__ == "__main__":
    main()
