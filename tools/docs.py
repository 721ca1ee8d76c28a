#!/usr/bin/env python3
"""The tables in docs/ that the program itself can print.

    tools/docs.py TIDEMILL            fails if one of them is not what TIDEMILL prints
    tools/docs.py TIDEMILL --write    writes them

A table stands between two comments, of which the first says by which command it was made:

    <!-- tidemill metrics --markdown -->
    ...
    <!-- end -->
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
    for page in stale:
        print(f"{page.relative_to(ROOT)}: " + ("written" if write else
              "not what the program prints: tools/docs.py TIDEMILL --write"))
    if blocks == 0:
        sys.exit("no generated table found in docs/")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main())
