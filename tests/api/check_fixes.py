#!/usr/bin/env python3
"""Applies every fix that POST /v1/validate offers for a case of tests/conformance, and asks again.

    check_fixes.py TIDEMILL CASES.jsonl...

A fix leaves at least one error less, and none where there was one: a user who takes what is offered ends
with a legal spec.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

DEADLINE_S = 60
STREAMS = {
    "clicks": ("visitor STRING, url STRING, n INT, at TIMESTAMP", None),
    "wclicks": ("visitor STRING, url STRING, n INT, at TIMESTAMP", "10 seconds"),
    "orders": ("id BIGINT, customer STRING, amount DOUBLE, at TIMESTAMP", None),
    "worders": ("id BIGINT, customer STRING, amount DOUBLE, at TIMESTAMP", "10 seconds"),
    "wpayments": ("order_id BIGINT, paid DOUBLE, at TIMESTAMP", "20 seconds"),
}
PAGES = "url STRING, section STRING, rank INT"


def relation(directory, schema):
    return {"format": "json", "schema": schema, "options": {"path": f"{directory}/in"}}


def spec_of(case, directory):
    """The spec of a case; None where it is about something else."""
    sources, tables = {}, {}
    if "stream" in case:
        for name, (schema, delay) in STREAMS.items():
            sources[name] = relation(directory, schema)
            if delay is not None:
                sources[name]["watermark"] = {"column": "at", "delay": delay}
        tables["pages"] = relation(directory, PAGES)
        for source in case.get("sources", []):
            given = {k: source[k] for k in ("format", "schema", "watermark") if k in source}
            sources[source["name"]] = {**given, "options": {"path": f"{directory}/in", **source.get("options", {})}}
    elif "query" in case:
        for name, table in case.get("tables", {}).items():
            sources[name] = relation(directory, table["schema"])
    else:
        return None
    sink = case.get("sink", "memory")
    spec = {"sources": sources, "tables": tables, "sql": case.get("stream", case.get("query")),
            "outputMode": case.get("mode", "append"), "conf": case.get("conf", {}),
            "sink": {"format": sink, "options": {**({} if sink in ("memory", "console", "noop") else
                                                    {"path": f"{directory}/out"}), **case.get("writerOptions", {})}}}
    for optional in ("views", "trigger"):
        if optional in case:
            spec[optional] = case[optional]
    if "partitionBy" in case:
        spec["sink"]["partitionBy"] = case["partitionBy"]
    return spec


def apply(spec, edit):
    *way, last = [part.replace("~1", "/").replace("~0", "~") for part in edit["pointer"].split("/")[1:]]
    for part in way:
        spec = spec[int(part)] if isinstance(spec, list) else spec[part]
    last = int(last) if isinstance(spec, list) else last
    if edit.get("remove"):
        del spec[last]
    elif "replace" in edit:
        assert edit["replace"] in spec[last], edit
        spec[last] = spec[last].replace(edit["replace"], edit["text"], 1)
    else:
        spec[last] = edit["value"]


class Server:
    def __init__(self, tidemill, directory):
        self.process = subprocess.Popen([tidemill, "serve", "--data-dir", f"{directory}/data", "--listen",
                                         "127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = pathlib.Path(directory) / "data" / "server.json"
        deadline = time.monotonic() + DEADLINE_S
        while not found.exists() or "url" not in found.read_text():
            assert time.monotonic() < deadline and self.process.poll() is None, "the server does not start"
            time.sleep(0.05)
        self.url = json.loads(found.read_text())["url"]

    def errors(self, spec):
        request = urllib.request.Request(f"{self.url}/v1/validate", json.dumps(spec).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError:
            return None, False
        except OSError as lost:
            raise SystemExit(f"the server is gone ({lost}) after: {json.dumps(spec)}") from lost
        return [each for each in found["diagnostics"] if each["severity"] == "ERROR"], found["valid"]


def check(server, spec, name):
    """How many fixes there were, and what is wrong with them."""
    count, wrong = 0, []
    errors, _ = server.errors(spec)
    if errors is None:
        return None, wrong  # its form is wrong: there are no diagnostics
    for error in errors:
        for fix in error.get("fixes", []):
            count += 1
            edited = copy.deepcopy(spec)
            for edit in fix["edits"]:
                apply(edited, edit)
            left, valid = server.errors(edited)
            if left is None or not fix["validated"] or len(left) >= len(errors) or (len(errors) == 1 and not valid):
                wrong.append(f"{name}: {error['condition']}: '{fix['title']}' leaves "
                             f"{[each['condition'] for each in left or []]}")
    return count, wrong


def main():
    fixes, cases, refused, wrong = 0, 0, 0, []
    with tempfile.TemporaryDirectory(prefix="fixes-") as directory:
        (pathlib.Path(directory) / "in").mkdir()
        server = Server(sys.argv[1], directory)
        try:
            for path in sys.argv[2:]:
                for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
                    case = json.loads(line) if line.startswith("{") else {}
                    spec = spec_of(case, directory) if "error" in case else None
                    if spec is None:
                        continue
                    count, bad = check(server, spec, f"{path}:{number}")
                    cases += count is not None
                    refused += count is None
                    fixes += count or 0
                    wrong += bad
        finally:
            server.process.terminate()
            server.process.wait()
    for line in wrong:
        print(line)
    print(f"{cases} cases, {refused} that are no requests, {fixes} fixes, {len(wrong)} do not hold")
    return 1 if wrong or fixes < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
