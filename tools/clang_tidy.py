#!/usr/bin/env python3
"""clang-tidy over some files, without those that passed and have not changed since.

    tools/clang_tidy.py [--fresh] BUILD FILE...     BUILD holds compile_commands.json

What a file is judged by is hashed: its compile command, every byte of the file and of all that it
includes (comments count: NOLINT is one), .clang-tidy, and the version of clang-tidy.  When a file
passes, the hash is written to build/lint/<file>; a file whose hash stands there already is not
checked again.  Failures are never remembered, and nothing is when a file changed under the check.
--fresh checks every file.

JOBS is how many run at a time (all cores); CLANG and CLANG_TIDY name other programs (tests).
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

CLANG = os.environ.get("CLANG", "clang-14")
CLANG_TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-14")
STAMPS = pathlib.Path("build/lint")
# The compile commands are gcc's, with warnings that clang does not know.
ARGUMENTS = ["--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-string-conversion"]


def compile_commands(build):
    """file -> (directory, arguments) of its first command, as clang-tidy takes it."""
    commands = {}
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text()):
        path = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
        commands.setdefault(path, (entry["directory"], shlex.split(entry["command"])))
    return commands


def included(command):
    """The file and all that it includes, in order; None where the preprocessor fails."""
    directory, arguments = command
    output = arguments.index("-o")
    arguments = arguments[1:output] + arguments[output + 2:]
    done = subprocess.run([CLANG, *arguments, "-w", "-M", "-MT", "it"], cwd=directory,
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None
    names = shlex.split(done.stdout.replace("\\\n", " "))[1:]
    return [os.path.join(directory, name) for name in names]


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@functools.lru_cache(maxsize=None)
def digest_of_state(path, inode, size, modified_ns):
    return digest(path)


def digest_of(path):
    """digest(), that reads a file again only when it was written to: most headers are system's."""
    found = os.stat(path)
    return digest_of_state(path, found.st_ino, found.st_size, found.st_mtime_ns)


def key_of(command, settings):
    """The hash of all that the verdict depends on; None where it cannot be known."""
    files = included(command) if command else None
    if files is None:
        return None
    parts = [settings, repr(command)] + [f"{path} {digest_of(path)}" for path in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def check(path, build, command, settings):
    """(passed, what clang-tidy said); it says nothing of a file that it need not be asked about."""
    stamp = STAMPS / path
    before = key_of(command, settings)
    if before and "--fresh" not in sys.argv and stamp.is_file() and stamp.read_text() == before:
        return True, None
    done = subprocess.run([CLANG_TIDY, *ARGUMENTS, "-p", build, path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0 and before and before == key_of(command, settings):
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(before)
    return done.returncode == 0, done.stdout


def main():
    build, *files = [argument for argument in sys.argv[1:] if argument != "--fresh"]
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, text=True, check=True)
    settings = "\n".join([version.stdout, *ARGUMENTS, digest(".clang-tidy"), digest(__file__)])
    commands = compile_commands(build)
    asked = failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        running = {pool.submit(check, path, build, commands.get(os.path.realpath(path)), settings): path
                   for path in files}
        for done in concurrent.futures.as_completed(running):
            passed, said = done.result()
            asked += said is not None
            failed += not passed
            if not passed:
                print(f"{said}FAILED: clang-tidy {running[done]}", file=sys.stderr, flush=True)
    print(f"clang-tidy: {asked} files checked, {failed} failed; "
          f"{len(files) - asked} unchanged since they passed", file=sys.stderr)
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
