# SPDX-License-Identifier: MIT
"""Runs every command that has --json in hostile states of the cache directory: hostile_json.py BUILD FILLED WORK.

FILLED is a cache directory with results. In each state one thing in it is replaced by something else. Every run must
print exactly one JSON document, must not be ended by a signal and must end in time. Prints TAP, one test per command.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys

build, filled, work = sys.argv[1:]
command, agent = os.path.join(build, "nvrtccache"), os.path.join(build, "nvrtccache-agent")
PATIENCE = 60
RESULT = re.compile(r"v1/[0-9a-f]{2}/[0-9a-f]{62}$")


def make_socket(path):
    here = os.getcwd()
    os.chdir(os.path.dirname(path))  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.basename(path))
    os.chdir(here)


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def cut(path, was):
    write(path, was[:len(was) // 2])


def flip(path, was):
    write(path, was[:len(was) // 2] + bytes(byte ^ 0x55 for byte in was[len(was) // 2:]))


KINDS = {  # how each puts itself in a path's place; the last two need the file that was there
    "nothing": lambda path, was: None,
    "an empty file": lambda path, was: write(path, b""),
    "noise": lambda path, was: write(path, bytes(range(256)) * 20),
    "an empty directory": lambda path, was: os.mkdir(path),
    "a pipe": lambda path, was: os.mkfifo(path),
    "a socket": lambda path, was: make_socket(path),
    "a link to nothing": lambda path, was: os.symlink("/nowhere/at/all", path),
    "a link to itself": lambda path, was: os.symlink(os.path.basename(path), path),
    "a link to a device": lambda path, was: os.symlink("/dev/zero", path),
    "the file without a right": lambda path, was: (write(path, was), os.chmod(path, 0)),
    "half of the file": cut,
    "a file half of which is noise": flip,
}


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def places():
    """One path of each kind that the directory has: one shard and one result stand for all."""
    yield "."
    shards = results = 0
    for folder, folders, files in os.walk(filled):
        folders.sort()
        for name in folders + sorted(files):
            path = os.path.relpath(os.path.join(folder, name), filled)
            shards += (is_shard := bool(re.fullmatch("v1/[0-9a-f]{2}", path)))
            results += (is_result := bool(RESULT.match(path)))
            if not (is_shard and shards > 1 or is_result and results > 1):
                yield path


def states():
    """(words, directory, environment) of each; the directory is made anew for each."""
    directory = os.path.join(work, "cache")
    for place in places():
        for kind, put in KINDS.items():
            target = os.path.normpath(os.path.join(directory, place))
            shutil.copytree(filled, directory, symlinks=True)
            was = b""
            if os.path.isfile(target):
                with open(target, "rb") as file:
                    was = file.read()
            elif put in (cut, flip) or "right" in kind:
                remove(directory)
                continue
            remove(target)
            put(target, was)
            yield f"{place}: {kind}", directory, {}
            if os.path.lexists(directory):
                remove(directory)
    for name in ("", "relative", "/proc/self/mem", "/dev/null", "/x" * 3000, "/nowhere", "/\udcff\"\\\n"):
        yield f"NVRTCCACHE_DIR={name[:40]!r}", name, {}
    for variable in ("MAX_SIZE", "MEM_SIZE", "WAIT", "LOWER", "AGENT", "AGENT_WAIT", "SHARED", "LOG_LEVEL", "SLOPPINESS",
                     "LIBRARY", "NO_SUCH"):
        yield f"NVRTCCACHE_{variable}='\"\\xff", filled, {"NVRTCCACHE_" + variable: "'\"\udcff"}


def commands():
    """Those whose help has --json, each with arguments as people give them."""
    keys = [RESULT.search(os.path.join(folder, name)).group()[3:].replace("/", "")
            for folder, _, files in os.walk(filled) for name in files if RESULT.search(os.path.join(folder, name))]
    arguments = {"show": [[keys[0]]], "explain": [[], ["--last", "9"], [keys[0]]], "stats": [[], ["--count"], ["--zero"]],
                 "doctor": [[]], "verify": [[], ["--remove"]]}
    overview = subprocess.run([command, "help"], capture_output=True, text=True, check=True).stdout
    for name in re.findall("^  ([a-z]+) +[a-z]", overview, re.M):
        if "--json" in subprocess.run([command, "help", name], capture_output=True, text=True, check=True).stdout:
            for more in arguments.get(name, [[]]):
                yield [command, name, "--json", *more]
    if os.access(agent, os.X_OK):
        yield [agent, "--status", "--json"]


def complaint(run, directory, variables):
    environment = dict(os.environ, NVRTCCACHE_DIR=directory, **variables)
    try:
        done = subprocess.run(run, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    except OSError as error:
        return str(error)
    if done.returncode > 0 and not done.stdout and done.stderr:
        return None
    try:
        json.loads(done.stdout.decode("utf-8"))
    except ValueError as error:
        return f"status {done.returncode}, no JSON ({error}): {done.stdout[:60]!r}, on stderr: {done.stderr[-200:]!r}"
    return f"ended by signal {-done.returncode}" if done.returncode < 0 else None


runs = list(commands())
wrong = {tuple(run): [] for run in runs}
count = 0
wanted = os.environ.get("STATES", "")
for words, directory, variables in states():
    if wanted not in words:
        continue
    count += 1
    for run in runs:
        if said := complaint(run, directory, variables):
            wrong[tuple(run)].append(f"{words}: {said}")
for number, run in enumerate(runs, 1):
    shown = " ".join([os.path.basename(run[0]), *run[1:]])
    shown = re.sub("[0-9a-f]{64}", "KEY", shown)
    print(f"{'not ok' if wrong[tuple(run)] else 'ok'} {number} - '{shown}' prints JSON in each of {count} hostile states.")
    for line in wrong[tuple(run)][:12]:
        print("#   " + line.encode("utf-8", "replace").decode())
print(f"1..{len(runs)}")
sys.exit(any(wrong.values()))
