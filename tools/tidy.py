#!/usr/bin/env python3
"""Checks what no general tool knows: layers, header fences, banned calls, sizes, catalogues.

    tools/tidy.py            reports every finding as file:line: what is wrong: what to do instead
    tools/tidy.py --strict   ... and entries of the ratchet file that are stale
    tools/tidy.py --update   rewrites tools/ratchet.txt from what is there now

The ratchet file lists old offenders.  An offender may shrink, never grow; an entry that is larger
than what is there now is stale, and `./run lint` wants it updated, so the file shrinks with the
code.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATCHET = "tools/ratchet.txt"
FILE_LINES_MAX = 1000
FUNCTION_LINES_MAX = 70
LINE_LENGTH_MAX = 100

# header -> (path patterns that may include it, why)
FENCES = {
    "microhttpd.h": (r"^api/http/", "resources stay testable without sockets"),
    "jansson.h": (r"^(api/|cli/|tests/|server/(spec|checkpoint|iceberg|control|supervisor|ipc)/"
                  r"|server/columnar/type_json|server/main|server/worker/|server/plan/|server/state/)",
                  "JSON is an edge format; rows have their own decoder"),
    "rocksdb/c.h": (r"^server/state/", "one folder knows column families and options"),
    "librdkafka/rdkafka.h": (r"^server/(kafka/|source/source_kafka|sink/sink_kafka)",
                             "one place configures the client"),
    "curl/curl.h": (r"^(cli|tests)/", "the server opens no HTTP connection on its own"),
    "pthread.h": (r"^(server/(base|control|supervisor|worker)/|server/columnar/timezone|server/expr/regex"
                  r"|server/format/codec_library|server/parquet/page_codec|api/http/"
                  r"|tests/"
                  r"|server/main)",
                  "operators are single-threaded: use base/task_pool.h"),
    "sys/wait.h": (r"^(server/supervisor/|cli/|tests/|server/main)", "one owner of child processes"),
    "spawn.h": (r"^(server/supervisor/|cli/|tests/|server/main)", "one owner of child processes"),
}

BANNED = {
    "strcpy": "arena_strdup or memcpy with a size",
    "strcat": "struct buffer",
    "sprintf": "snprintf or arena_sprintf",
    "vsprintf": "vsnprintf",
    "strtok": "strcspn or strsep",
    "atoi": "columnar/number_text.h or strtol with checks",
    "atol": "strtol with checks",
    "atof": "columnar/number_text.h",
    "gets": "a size",
    "rand": "random_bytes of base/uuid.h",
    "srand": "uuid_seed",
    "time": "clock_now_us of the caller's clock",
    "sleep": "wait for a condition with a deadline",
    "usleep": "wait for a condition with a deadline",
    "nanosleep": "wait for a condition with a deadline",
    "system": "nothing: the product starts no shell",
    "popen": "nothing: the product starts no shell",
    "alloca": "an arena",
    "longjmp": "enum status",
}
# Calls that only a few folders may make: everything else goes through the vfs.
RAW_FILE_CALLS = {"open", "rename", "unlink", "fopen", "mkdir", "rmdir", "fsync", "fdatasync"}
RAW_FILE_ALLOWED = re.compile(
    r"^(server/base/|server/columnar/timezone|server/main|server/supervisor/|server/control/|cli/|tests/|api/http/listen|api/ui/|tools/)")

KEYWORDS_BEFORE_CALL = {"return", "else", "do", "case", "sizeof"}
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                   r"|[A-Za-z_]\w*|\d[\w.]*|->|\S", re.S)


def files():
    out = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if out.returncode == 0 and out.stdout:
        names = out.stdout.decode().split("\0")
    else:
        names = []
        for folder, folders, leaves in os.walk(ROOT):
            folders[:] = [f for f in folders if f not in (".git", "build")]
            names += [os.path.relpath(os.path.join(folder, leaf), ROOT) for leaf in leaves]
    return sorted(n for n in names if n and os.path.isfile(os.path.join(ROOT, n)))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as f:
        return f.read()


class Findings:
    def __init__(self):
        self.items = []
        self.measured = {}  # ratchet key -> (number, where, message)

    def add(self, name, line, what):
        self.items.append(f"{name}:{line}: {what}")

    def measure(self, key, number, where, what):
        self.measured[key] = (number, where, what)


def tokens(text):
    """Yields (line, token, is_comment) with comments as one token."""
    line = 1
    at = 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        token = match.group()
        yield line, token, token.startswith(("/*", "//"))


def layers():
    allowed = {}
    for line in read("server/layers.txt").splitlines():
        words = line.split("#")[0].split()
        if words:
            allowed[words[0]] = set(words[1:]) | {words[0]}
    return allowed


def layer_of(name):
    parts = name.split("/")
    if parts[0] == "server":
        return "main" if len(parts) == 2 else parts[1]
    return parts[0] if parts[0] in ("api", "cli") else None


def check_includes(name, text, allowed, found):
    layer = layer_of(name)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+([<"])([^>"]+)', line)
        if not match:
            continue
        header = match.group(2)
        if header in FENCES and not re.search(FENCES[header][0], name):
            found.add(name, number, f"{header} may not be included here: {FENCES[header][1]}")
        if match.group(1) == "<" or layer is None or layer == "main":
            continue
        folder = header.split("/")[0]
        if layer in ("api",) and folder in ("http", "resources", "ui", "api"):
            continue
        if layer not in allowed:
            found.add(name, number, f"{layer} has no line in server/layers.txt")
        elif "everything" not in allowed[layer] and "/" in header and folder not in allowed[layer]:
            found.add(name, number, f"{layer} may not use {folder}: see server/layers.txt")


def check_calls(name, code, found):
    for i, (line, token, _) in enumerate(code):
        if i + 1 >= len(code) or code[i + 1][1] != "(" or i == 0:
            continue
        before = code[i - 1][1]
        if before in (".", "->") or before == "*" and code[i - 2][1] in ("struct", "const", "char"):
            continue
        if re.match(r"[A-Za-z_]\w*$", before) and before not in KEYWORDS_BEFORE_CALL:
            continue  # a declaration
        if token in BANNED:
            found.add(name, line, f"{token}() is banned: use {BANNED[token]}")
        elif token in RAW_FILE_CALLS and not RAW_FILE_ALLOWED.search(name):
            found.add(name, line, f"{token}() outside base/: files go through base/vfs.h")


def check_functions(name, code, found):
    """A function is a '{' at depth 0 after ')'."""
    depth = 0
    start = None
    function = None
    previous = ""
    last_call = None
    for i, (line, token, _) in enumerate(code):
        if token == "(" and depth == 0 and i > 0 and re.match(r"[A-Za-z_]\w*$", code[i - 1][1]):
            last_call = code[i - 1]
        if token == "{":
            if depth == 0 and previous == ")" and last_call is not None:
                start, function = line, last_call[1]
            depth += 1
        elif token == "}":
            depth = max(0, depth - 1)
            if depth == 0 and start is not None:
                length = line - start + 1
                if length > FUNCTION_LINES_MAX:
                    found.measure(f"function {name} {function}", length, f"{name}:{start}",
                                  f"{function} has {length} lines, {FUNCTION_LINES_MAX} is the "
                                  "limit: split it by what its parts do")
                start = None
        elif token == ";" and depth == 0:
            last_call = None
        if token.strip():
            previous = token


def check_text(name, text, found):
    lines = text.split("\n")
    table = False  # tables are laid out by hand
    for number, line in enumerate(lines, 1):
        if "clang-format off" in line or "clang-format on" in line:
            table = "clang-format off" in line
        if line.endswith((" ", "\t", "\r")):
            found.add(name, number, "blanks at the end of the line")
        if "\t" in line:
            found.add(name, number, "a tab: use blanks")
        # The word is put together so that this file does not find itself.
        if re.search(r"\b(TO" r"DO|FIX" r"ME)\b(?!.*#\d)", line):
            found.add(name, number, "an open end without an issue number: finish it or name #N")
        if name.endswith((".c", ".h")) and len(line) > LINE_LENGTH_MAX \
                and not table and " " in line.strip():
            found.add(name, number, f"{len(line)} characters, {LINE_LENGTH_MAX} is the limit")
    if text and not text.endswith("\n"):
        found.add(name, len(lines), "no newline at the end of the file")
    if name.endswith((".c", ".h")) and len(lines) - 1 > FILE_LINES_MAX:
        found.measure(f"file {name}", len(lines) - 1, f"{name}:1",
                      f"{len(lines) - 1} lines, {FILE_LINES_MAX} is the limit: one concept per file")


def check_failpoints(sources, found):
    name = "server/base/failpoints.def"
    uses = {}
    for source, text in sources.items():
        if source.startswith("server/") and source.endswith(".c"):
            for point in re.findall(r"\bFAILPOINT\((\w+),", text):
                uses.setdefault(point, []).append(source)
    for number, line in enumerate(read(name).splitlines(), 1):
        match = re.match(r'FAILPOINT_DEF\((\w+), "([^"]*)"', line)
        if not match:
            continue
        places = uses.pop(match.group(1), [])
        if not places:
            found.add(name, number, f"failpoint {match.group(1)} is passed nowhere: use or remove it")
        elif len(places) > 1 and "*" not in match.group(2):
            found.add(name, number, f"failpoint {match.group(1)} stands in {len(places)} places: "
                      "one failpoint is one place")
    for point, places in uses.items():
        found.add(places[0], 1, f"failpoint {point} is not in failpoints.def")


def check_conditions(sources, found):
    name = "server/base/conditions.def"
    code = "\n".join(t for n, t in sources.items() if n.startswith(("server/", "api/", "cli/")))
    tests = "\n".join(t for n, t in sources.items() if n.startswith("tests/"))
    tests += "\n".join(read(n) for n in files() if n.startswith("tests/conformance/"))
    raised = set(re.findall(r"\bSTATUS_(\w+)", code))
    unused, untested, seen = [], [], set()
    for number, line in enumerate(read(name).splitlines(), 1):
        match = re.match(r"CONDITION\((\w+),", line)
        if not match:
            continue
        condition = match.group(1)
        if condition in seen:
            found.add(name, number, f"{condition} stands twice in the catalogue")
        seen.add(condition)
        if condition not in raised:
            unused.append(condition)
        elif condition not in tests and condition.replace("__", ".") not in tests:
            untested.append(condition)
    found.measure("conditions never-raised", len(unused), f"{name}:1",
                  f"{len(unused)} conditions are raised nowhere: " + " ".join(unused[:5]) + " ...")
    found.measure("conditions untested", len(untested), f"{name}:1",
                  f"{len(untested)} conditions that are raised have no test that names them: "
                  + " ".join(untested[:5]) + " ...")


def check_registries(sources, found):
    for folder, kind in (("source", "source_ops"), ("sink", "sink_ops"), ("format", "format_ops")):
        registry = [n for n in sources if re.match(rf"server/{folder}/\w*registry\.c$", n)]
        if not registry:
            continue
        listed = sources[registry[0]]
        for name, text in sources.items():
            if not name.startswith(f"server/{folder}/") or not name.endswith(".c"):
                continue
            for match in re.finditer(rf"^const struct {kind} (\w+) = ", text, re.M):
                if not re.search(rf"\b{match.group(1)}\b", listed):
                    found.add(name, text.count("\n", 0, match.start()) + 1,
                              f"{match.group(1)} is not listed in {registry[0]}")


def check_operations(sources, found):
    if "openapi.yaml" not in sources or "api/routes.c" not in sources:
        return
    published = set(re.findall(r"operationId:\s*(\w+)", sources["openapi.yaml"]))
    routed = set(re.findall(r'"([a-z]\w*[A-Z]\w*|[a-z]+)"', sources["api/routes.c"]))
    for operation in sorted(published - routed):
        found.add("openapi.yaml", 1, f"operation {operation} has no route in api/routes.c")


def apply_ratchet(found, update):
    limits = {}
    path = os.path.join(ROOT, RATCHET)
    if os.path.exists(path):
        for line in read(RATCHET).splitlines():
            if line and not line.startswith("#"):
                key, number = line.rsplit(" ", 1)
                limits[key] = int(number)
    if update:
        with open(path, "w", encoding="utf-8") as f:
            f.write("# Old offenders: each may shrink, never grow.  Rewritten by "
                    "tools/tidy.py --update.\n")
            for key in sorted(found.measured):
                if found.measured[key][0] > 0:
                    f.write(f"{key} {found.measured[key][0]}\n")
        return
    for key, (number, where, what) in sorted(found.measured.items()):
        if number > limits.get(key, 0):
            found.items.append(f"{where}: {what} (was {limits.get(key, 0)})")
    for key, limit in limits.items():
        number = found.measured.get(key, (0,))[0]
        if number < limit and "--strict" in sys.argv:
            found.items.append(f"{RATCHET}:1: '{key}' is {number} now, not {limit}: "
                               "run tools/tidy.py --update")


def main():
    found = Findings()
    sources = {}
    for name in files():
        if name.startswith(("tests/conformance/", "tests/bench/kit/", "tests/fuzz/corpus/", "build/")):
            continue
        if name.endswith((".c", ".h", ".def", ".py", ".sh", ".txt", ".cmake", ".json", ".yaml",
                          ".scn", ".md", "run")):
            sources[name] = read(name)
    allowed = layers()
    for name, text in sources.items():
        if not name.endswith((".scn", ".md", ".json")):
            check_text(name, text, found)
        if not name.endswith((".c", ".h")):
            continue
        check_includes(name, text, allowed, found)
        code = [t for t in tokens(text) if not t[2] and t[1][0] not in "\"'"]
        if not name.startswith("tests/"):
            check_calls(name, code, found)
        check_functions(name, code, found)
    check_failpoints(sources, found)
    check_conditions(sources, found)
    check_registries(sources, found)
    check_operations(sources, found)
    apply_ratchet(found, "--update" in sys.argv)
    for item in found.items:
        print(item)
    print(f"tidy: {len(found.items)} findings in {len(sources)} files")
    return 1 if found.items else 0


if __name__ == "__main__":
    sys.exit(main())
