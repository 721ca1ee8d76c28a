#!/usr/bin/env python3
"""What the documentation says, against the program: tables that it prints, and names and links.

    tools/docs.py TIDEMILL            fails if one of them is not what TIDEMILL prints
    tools/docs.py TIDEMILL --write    writes them

A table stands between two comments, of which the first says by which command it was made:

    <!-- tidemill metrics --markdown -->
    ...
    <!-- end -->

Elsewhere in docs/ and README.md: conditions, metrics, commands and linked files that are not there are errors.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- tidemill ([^>]*?) -->\n)(.*?)(<!-- end -->)", re.S)


def printed(tidemill, arguments):
    done = subprocess.run([tidemill, *arguments.split()], capture_output=True, text=True,
                          check=True, env={"LC_ALL": "C"})
    return done.stdout


# Names in capitals that are no conditions: states, phases, verdicts, warnings, words of SQL.
OTHER_NAMES = set("""
    STOPPED STARTING RUNNING STOPPING RETRYING FAILED FINISHED UNKNOWN WAITING_FOR_TRIGGER WAITING_FOR_DATA
    PERMISSIVE DROPMALFORMED FAILFAST TIMESTAMP_NTZ UNUSED_WATERMARK UNBOUNDED_STATE
    OUTER_JOIN_NEVER_PADS SOURCE_WITHOUT_WATERMARK EQUAL_COLUMN_NAMES STATE_UNCOMMITTED
    ALWAYS_NULL CONSTANT_FAILS NO_SESSIONS COUNTED_EVERY_BATCH SUBTRACTED_EVERY_BATCH WINDOW_OF_MICROSECONDS
    STATE_OF_FORMER_QUERY SNAPSHOT_DAMAGED GROUPS_NEVER_COME_OUT TIMESTAMP_MICROS TIMESTAMP_MILLIS
""".split())
COMMAND = re.compile(r"\btidemill ([a-z][A-Za-z]*)")
NAME = re.compile(r"\b[A-Z]{2,}(?:[_.][A-Z]+)+\b(?!=)")
WORKLOADS = "performance.md"  # there words are workloads and their variables


def check_names(tidemill, page, text):
    """Yields what the page names that there is not."""
    conditions = {line.split("\t")[0] for line in printed(tidemill, "conditions").splitlines()}
    metrics = {line.split("\t")[0] for line in printed(tidemill, "metrics").splitlines()}
    commands = set(re.findall(r"^  tidemill (\w+)", printed(tidemill, "help"), re.M))
    parents = {c.split(".")[0] for c in conditions}
    for name in [] if page.name == WORKLOADS else NAME.findall(text):
        if name not in conditions | parents | OTHER_NAMES and not name.startswith("TIDEMILL_"):
            yield f"{name} is no condition"
    for name in re.findall(r"\btidemill_\w+", text):
        if re.sub("_(bucket|sum|count)$", "", name) not in metrics:
            yield f"there is no metric {name}"
    for code in [] if page.name == WORKLOADS else re.findall(r"`[^`\n]+`|```.*?```", text, re.S):
        for name in COMMAND.findall(code):
            if name not in commands:
                yield f"there is no command tidemill {name}"
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        if "://" not in target and not (page.parent / target).exists():
            yield f"the link {target} leads nowhere"


def main():
    tidemill, write = sys.argv[1], "--write" in sys.argv[2:]
    stale, blocks = [], 0
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        blocks += len(BLOCK.findall(text))
        new = BLOCK.sub(lambda m: m[1] + "\n" + printed(tidemill, m[2]).strip() + "\n\n" + m[4], text)
        if new != text:
            stale.append(page)
            if write:
                page.write_text(new, encoding="utf-8")
    wrong = 0
    for page in [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for what in check_names(tidemill, page, text):
            wrong += 1
            print(f"{page.relative_to(ROOT)}: {what}")
    for page in stale:
        print(f"{page.relative_to(ROOT)}: " + ("written" if write else
              "not what the program prints: tools/docs.py TIDEMILL --write"))
    if blocks == 0:
        sys.exit("no generated table found in docs/")
    return 1 if wrong or (stale and not write) else 0


if __name__ == "__main__":
    sys.exit(main())
