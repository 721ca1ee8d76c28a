#!/usr/bin/env python3
"""Writes Parquet files of all types with TIDEMILL, and reads them with pyarrow and DuckDB.

    check_readers.py TIDEMILL [--rows 4000] [--seed N] [--work DIR] [--keep]

Both readers have to give every value that went in: NULLs at all levels, empty lists and maps, the
ends of all ranges, with each codec, with dictionaries and without, in one row group and in many.  The
statistics of each chunk have to be those of its values, and DuckDB, which skips row groups by them, has to
count right.  The readers are installed into a virtual environment below DIR (default: beside
TIDEMILL), in the versions named here; without them the check fails.
"""
import argparse
import base64
import datetime
import decimal
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

PACKAGES = ["duckdb==2.0.1", "pyarrow==26.0.1"]

# name: (schema of the JSON source, expression of the query)
COLUMNS = {
    "id": ("BIGINT", "id"),
    "b": ("BOOLEAN", "b"),
    "t": ("TINYINT", "t"),
    "s": ("SMALLINT", "s"),
    "i": ("INT", "i"),
    "l": ("BIGINT", "l"),
    "few": ("BIGINT", "few"),
    "f": ("FLOAT", "f"),
    "d": ("DOUBLE", "d"),
    "d9": ("DECIMAL(9,2)", "d9"),
    "d18": ("DECIMAL(18,4)", "d18"),
    "d20": ("DECIMAL(20,0)", "d20"),
    "d38": ("DECIMAL(38,10)", "d38"),
    "st": ("STRING", "st"),
    "word": ("STRING", "word"),
    "bi": ("STRING", "unbase64(bi)"),
    "da": ("DATE", "da"),
    "ts": ("TIMESTAMP", "ts"),
    "nt": ("TIMESTAMP_NTZ", "nt"),
    "dt": ("BIGINT", "make_dt_interval(0, 0, 0, CAST(dt AS DECIMAL(18,6)) / 1000000)"),
    "ym": ("INT", "make_ym_interval(0, ym)"),
    "ar": ("ARRAY<INT>", "ar"),
    "aa": ("ARRAY<ARRAY<STRING>>", "aa"),
    "ma": ("MAP<STRING, INT>", "ma"),
    "n": ("STRUCT<x: INT, y: STRUCT<z: STRING, w: ARRAY<STRUCT<q: INT, r: MAP<STRING, ARRAY<DOUBLE>>>>>>", "n"),
    "v": (None, "NULL"),
    "va": ("INT", "parse_json(CASE WHEN va IS NULL THEN NULL ELSE '{\"k\":' || va || '}' END)"),
}
MAPS = {"ma", "r"}

VARIANTS = [ # name, options of the sink, conf
    ("default", {}, {}),
    ("none", {"compression": "none"}, {}),
    ("gzip", {"compression": "gzip"}, {}),
    ("zstd", {"compression": "zstd"}, {}),
    ("lz4", {"compression": "lz4"}, {}),
    ("lz4_raw", {}, {"spark.sql.parquet.compression.codec": "lz4_raw"}),
    ("plain", {"parquet.enable.dictionary": "false"}, {}),
    ("groups", {"parquet.block.size": "100000"}, {}),
    ("pages", {"parquet.page.size": "2000"}, {}),
    ("fallback", {"parquet.page.size": "20000", "parquet.dictionary.page.size": "2000"}, {}),
    ("micros", {"compression": "zstd"}, {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}),
    ("millis", {"compression": "zstd"}, {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"}),
]
EPOCH = datetime.datetime(1970, 1, 1)


def in_environment(work):
    """Goes on in a Python that has the readers."""
    python = os.path.join(work, "venv", "bin", "python")
    marker = os.path.join(work, "venv", "packages")
    if not os.path.exists(marker) or open(marker).read() != " ".join(PACKAGES):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(work, "venv")], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        with open(marker, "w") as file:
            file.write(" ".join(PACKAGES))
    if os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(work, "venv")):
        os.execv(python, [python, *sys.argv])


# ---- what goes in ----

class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_of(self, *makers):
        return self.random.choice(makers)()

    def integer(self, bits):
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        return self.one_of(lambda: low, lambda: high, lambda: 0, lambda: self.random.randint(low, high),
                           lambda: self.random.randint(-3, 3))

    def decimal(self, precision, scale):
        digits = self.random.randint(0, precision)
        unscaled = self.random.randint(0, 10 ** digits - 1) if digits else 0
        return decimal.Decimal((self.random.randint(0, 1) if unscaled else 0, tuple(map(int, str(unscaled))), -scale))

    def real(self):
        return self.one_of(lambda: math.nan, lambda: -0.0, lambda: 0.0, lambda: math.inf, lambda: -math.inf,
                           lambda: self.random.randint(-1000, 1000) / 8, lambda: self.random.randint(-1000, 1000) / 8)

    def text(self):
        alphabet = "abc äöü 漢字 \U0001f680 \"\\\n"
        return "".join(self.random.choice(alphabet) for _ in range(self.random.choice((0, 1, 3, 20, 70))))

    def time(self):
        return EPOCH + datetime.timedelta(microseconds=self.random.randint(-9_000_000_000, 250_000_000_000) * 1_000_000
                                          + self.random.randint(0, 999_999))

    def maybe(self, maker, chance=0.2):
        return None if self.random.random() < chance else maker()

    def list_of(self, maker, most=4):
        return [self.maybe(maker) for _ in range(self.random.choice((0, 0, 1, 2, most)))]

    def map_of(self, maker):
        return {f"k{i}": self.maybe(maker) for i in range(self.random.choice((0, 1, 3)))}

    def inner(self):
        return {"q": self.maybe(lambda: self.integer(32)),
                "r": self.maybe(lambda: self.map_of(lambda: self.list_of(
                    lambda: self.random.randint(-100, 100) / 4)))}

    def row(self, id_):
        r = self.random
        makers = {
            "b": lambda: r.random() < 0.5, "t": lambda: self.integer(8), "s": lambda: self.integer(16),
            "i": lambda: self.integer(32), "l": lambda: self.integer(64), "few": lambda: r.randint(1, 20) * 1000,
            "f": self.real, "d": self.real, "d9": lambda: self.decimal(9, 2), "d18": lambda: self.decimal(18, 4),
            "d20": lambda: self.decimal(20, 0), "d38": lambda: self.decimal(38, 10), "st": self.text,
            "word": lambda: r.choice(("red", "green", "blue", "")),
            "bi": lambda: bytes(r.randrange(256) for _ in range(r.choice((0, 1, 9)))),
            "da": lambda: self.time().date(), "ts": self.time, "nt": self.time,
            "dt": lambda: r.randint(-10 ** 11, 10 ** 11), "ym": lambda: r.randint(-10 ** 6, 10 ** 6),
            "ar": lambda: self.list_of(lambda: self.integer(32)),
            "aa": lambda: self.list_of(lambda: self.list_of(self.text)),
            "ma": lambda: self.map_of(lambda: self.integer(32)),
            "n": lambda: {"x": self.maybe(lambda: self.integer(32)),
                          "y": self.maybe(lambda: {"z": self.maybe(self.text),
                                                   "w": self.maybe(lambda: self.list_of(self.inner))})},
            "v": lambda: None, "va": lambda: r.randint(0, 9),
        }
        # Now and then hundreds of rows lack a value.
        return {"id": id_, **{name: self.maybe(maker, 0.97 if id_ // 300 % 5 == 4 else 0.15)
                              for name, maker in makers.items()}}


def to_json(value):
    if isinstance(value, dict):
        return {key: to_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [to_json(inner) for inner in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, decimal.Decimal):
        return str(value) if value == 0 else format(value, "f")
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


# ---- what comes out ----

def plain(value, name=""):
    """In one form, whoever has read it, that tells all differences."""
    if value is None or isinstance(value, (bool, str, bytes)):
        return value
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else struct.pack(">d", value)
    if isinstance(value, int):
        return value
    if isinstance(value, decimal.Decimal):
        return ("decimal", format(value.normalize(), "f") if value else "0")
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).isoformat(timespec="microseconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if name in MAPS:
        pairs = value.items() if isinstance(value, dict) else value
        return [(key, plain(inner)) for key, inner in pairs]
    if isinstance(value, dict):
        return {key: plain(inner, key) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    raise AssertionError(f"{name} has the type {type(value)}")


def expected_row(row, millis):
    out = dict(row)
    if millis and out["ts"] is not None:
        out["ts"] = out["ts"].replace(microsecond=out["ts"].microsecond // 1000 * 1000)
    out["va"] = None if out["va"] is None else ("variant", out["va"])
    return {name: plain(value, name) if name != "va" else value for name, value in out.items()}


def variant_number(metadata, value):
    """{"k": small number} by the specification of VARIANT."""
    assert metadata == b"\x01\x01\x00\x01k", metadata
    assert value[:6] == b"\x02\x01\x00\x00\x02\x0c", value
    return ("variant", value[6])


def arrow_rows(paths):
    import pyarrow.parquet
    for path in paths:
        file = pyarrow.parquet.ParquetFile(path, coerce_int96_timestamp_unit="us")
        for row in file.read().to_pylist():
            if row["va"] is not None:
                row["va"] = variant_number(row["va"]["metadata"], row["va"]["value"])
            yield {name: value if name == "va" else plain(value, name) for name, value in row.items()}


def duck_rows(paths):
    import duckdb
    connection = duckdb.connect()
    names = ", ".join(f"epoch_us({name}) AS {name}" if name in ("ts", "nt") else name for name in COLUMNS)
    for path in paths:
        result = connection.execute(f"SELECT {names} FROM read_parquet('{path}') ORDER BY id")
        header = [column[0] for column in result.description]
        for values in result.fetchall():
            row = dict(zip(header, values))
            if row["va"] is not None:
                row["va"] = ("variant", row["va"]["k"])
            for name in ("ts", "nt"):
                if row[name] is not None:
                    row[name] = EPOCH + datetime.timedelta(microseconds=row[name])
            yield {name: value if name == "va" else plain(value, name) for name, value in row.items()}


def compare(reader, got, want):
    found = {}
    for row in got:
        assert row["id"] not in found, f"{reader}: row {row['id']} twice"
        found[row["id"]] = row
    assert len(found) == len(want), f"{reader}: {len(found)} rows of {len(want)}"
    for row in want:
        other = found[row["id"]]
        for name, value in row.items():
            if other[name] != value:
                raise AssertionError(f"{reader}: {name} of row {row['id']} is {other[name]!r}, not {value!r}")


def check_statistics(path, rows):
    """Of the chunks of flat columns; the readers have compared the values already."""
    import pyarrow.parquet
    file = pyarrow.parquet.ParquetFile(path, coerce_int96_timestamp_unit="us")
    checked = 0
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        table = file.read_row_group(number)
        ids = table.column("id").to_pylist()
        for i in range(group.num_columns):
            chunk = group.column(i)
            name = chunk.path_in_schema
            if "." in name:
                continue
            values = [rows[id_][name] for id_ in ids if rows[id_][name] is not None]
            assert chunk.statistics.null_count == len(ids) - len(values), (name, number)
            if name in ("ts", "nt", "dt", "ym", "v", "va", "da"):
                continue
            nan = any(isinstance(value, float) and math.isnan(value) for value in values)
            assert chunk.statistics.has_min_max == (len(values) > 0 and not nan), (name, number)
            if not chunk.statistics.has_min_max:
                continue
            key = (lambda value: value.encode()) if isinstance(values[0], str) else (lambda value: value)
            assert chunk.statistics.min == min(values, key=key), (name, number, chunk.statistics.min)
            assert chunk.statistics.max == max(values, key=key), (name, number, chunk.statistics.max)
            checked += 1
    return checked


def check_pruning(paths, rows):
    """Row groups are skipped by statistics: each count has to be right."""
    import duckdb
    connection = duckdb.connect()
    files = "[" + ", ".join(f"'{path}'" for path in paths) + "]"
    for name, value in (("few", 7000), ("i", 2 ** 31 - 1), ("i", -2 ** 31), ("word", "'red'"), ("d", 0.0), ("t", -128),
                        ("l", -2 ** 63 + 1), ("id", 17), ("st", "''")):
        got = connection.execute(f"SELECT count(*) FROM read_parquet({files}) WHERE {name} = {value}").fetchone()[0]
        plain_value = value.strip("'") if isinstance(value, str) else value
        assert got == sum(row[name] == plain_value for row in rows.values()), (name, value, got)
        got = connection.execute(f"SELECT count(*) FROM read_parquet({files}) WHERE {name} IS NULL").fetchone()[0]
        assert got == sum(row[name] is None for row in rows.values()), name


# ---- runs ----

def run(binary, root, sql, schema, sink, conf):
    spec = {"sources": {"s": {"format": "json", "schema": schema, "options": {"path": f"{root}/in"}}},
            "sql": sql, "sink": sink, "conf": {"spark.sql.session.timeZone": "UTC", **conf},
            "trigger": {"availableNow": True}, "checkpointLocation": sink["options"]["path"] + "-checkpoint"}
    path = f"{root}/spec.json"
    with open(path, "w") as file:
        json.dump(spec, file)
    done = subprocess.run([binary, "run", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


def files_below(root):
    found = []
    for folder, _, names in os.walk(root):
        found += [os.path.join(folder, name) for name in names if name.endswith(".parquet")]
    return sorted(found)


def check_partitions(binary, root, rows):
    import duckdb
    run(binary, root, "SELECT id, few, word FROM s WHERE word IS NOT NULL AND word <> ''",
        "id BIGINT, few BIGINT, word STRING",
        {"format": "parquet", "options": {"path": f"{root}/parts"}, "partitionBy": ["word"]}, {})
    got = duckdb.connect().execute(
        f"SELECT id, few, word FROM read_parquet('{root}/parts/*/*.parquet', hive_partitioning = true) ORDER BY id")
    want = [(row["id"], row["few"], row["word"]) for row in rows.values() if row["word"]]
    assert got.fetchall() == want


def check_variant(binary, root, variant, rows):
    name, options, conf = variant
    schema = ", ".join(f"{column} {type_}" for column, (type_, _) in COLUMNS.items() if type_)
    sql = "SELECT " + ", ".join(f"{text} AS {column}" for column, (_, text) in COLUMNS.items()) + " FROM s"
    out = f"{root}/out-{name}"
    run(binary, root, sql, schema, {"format": "parquet", "options": {"path": out, **options}}, conf)
    paths = files_below(out)
    assert paths, "no file"
    want = [expected_row(row, name == "millis") for row in rows.values()]
    compare("pyarrow", arrow_rows(paths), want)
    compare("DuckDB", duck_rows(paths), want)
    checked = sum(check_statistics(path, rows) for path in paths)
    check_pruning(paths, rows)
    print(f"{name}: {len(want)} rows in {len(paths)} files, {sum(map(os.path.getsize, paths))} bytes, "
          f"{checked} statistics", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.binary)
    work = os.path.abspath(arguments.work or os.path.join(os.path.dirname(binary), "parquet-readers"))
    os.makedirs(work, exist_ok=True)
    in_environment(work)
    root = tempfile.mkdtemp(prefix="run-", dir=work)
    maker = Maker(arguments.seed)
    rows = {id_: maker.row(id_) for id_ in range(arguments.rows)}
    os.mkdir(f"{root}/in")
    with open(f"{root}/in/rows.json", "w") as file:
        for row in rows.values():
            file.write(json.dumps(to_json(row)) + "\n")
    for variant in VARIANTS:
        check_variant(binary, root, variant, rows)
    check_partitions(binary, root, rows)
    if not arguments.keep:
        shutil.rmtree(root)
    print("pyarrow and DuckDB read what was written")


if __name__ == "__main__":
    main()
