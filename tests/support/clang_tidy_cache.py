#!/usr/bin/env python3
"""What tools/clang_tidy.py remembers: passes of files of which nothing that counts has changed.

clang-tidy is a script here that notes which file it is asked about, and finds what contains "bad".
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/clang_tidy.py"
FAKE = """#!/bin/sh
[ "$1" = --version ] && exec cat version
for file; do :; done
echo "$file" >>asked
! grep bad "$file"
"""


def run(*options):
    """The files that clang-tidy was asked about, and whether all passed."""
    asked = pathlib.Path("asked")
    asked.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, TOOL, *options, ".", "a.c", "b.c"], stderr=subprocess.DEVNULL,
                          env={**os.environ, "CLANG_TIDY": "./fake", "JOBS": "1"})
    return sorted(asked.read_text().split()) if asked.exists() else [], done.returncode == 0


def write(name, text):
    pathlib.Path(name).write_text(text)


def expect(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, not {want}")


def main():
    write("fake", FAKE)
    os.chmod("fake", 0o755)
    write("version", "1")
    write(".clang-tidy", "Checks: '*'")
    write("a.h", "int a;\n")
    write("a.c", '#include "a.h"\n')
    write("b.c", "int b;\n")

    def commands(flags):
        write("compile_commands.json", json.dumps([
            {"directory": os.getcwd(), "file": os.path.abspath(name), "command": f"cc {flags} -o x.o -c {name}"}
            for name in ("a.c", "b.c")]))

    commands("-DX=1")
    expect("the first run", run(), (["a.c", "b.c"], True))
    expect("nothing changed", run(), ([], True))
    expect("--fresh", run("--fresh"), (["a.c", "b.c"], True))
    write("a.h", "int a; /* NOLINT */\n")
    expect("a comment of a header", run(), (["a.c"], True))
    write("b.c", "int b; // bad\n")
    expect("a failure", run(), (["b.c"], False))
    expect("a failure is not remembered", run(), (["b.c"], False))
    write("b.c", "int b;\n")
    expect("a file as it was when it passed", run(), ([], True))
    write(".clang-tidy", "Checks: '-*'")
    expect("other settings", run(), (["a.c", "b.c"], True))
    write("version", "2")
    expect("another clang-tidy", run(), (["a.c", "b.c"], True))
    commands("-DX=2")
    expect("another command", run(), (["a.c", "b.c"], True))
    write("b.c", '#include "missing.h"\n')
    expect("what does not compile", run(), (["b.c"], True))
    expect("is not remembered", run(), (["b.c"], True))


if __name__ == "__main__":
    directory = tempfile.mkdtemp()
    try:
        os.chdir(directory)
        main()
    finally:
        os.chdir("/")
        shutil.rmtree(directory)
