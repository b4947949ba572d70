#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes one argument of the host's after each call, and compares what the compilers do with what they do behind the
cache.

usage: memory.py BUILD [CASE-FILE...]     (TAP on standard output)

For each case, each pointer argument and each of three actions (loans.h: other text of the same length, reused as freed
memory is, unmapped) the player runs

    plain       without the cache, with and without the action
    cold        with the action, twice in one process, the cache empty at first
    then        without the action, with the directory that the cold run has left
    disk        with the action, with a directory that a run without it has left

Each must print what the plain run with the same memory prints. Where that ends by a signal, the other must print the same
up to there. No file of the cache may hold a byte of what was written over an argument (LOANS_POISON).

Behind the tests a table says of each argument when the compiler reads it. Environment: as of differential.py; CASES, a
regular expression for the sentences; MEMORY, one for the arguments.
"""
import collections
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import casefile
import differential

ACTIONS = ("overwrite", "poison", "unmap")
POISON = b"POISON"


class Host:
    """One case, and the directories in which it is played."""

    def __init__(self, build, library, case):
        self.build, self.library, self.case = os.path.abspath(build), library, case
        self.top = tempfile.mkdtemp(prefix="nvrtccache-memory-")
        self.played = os.path.join(self.top, "case")
        casefile.write(self.played, [case])

    def cache(self, name):
        return os.path.join(self.top, name)

    def play(self, memory, rounds, cache=None):
        """(lines, return code)"""
        work = os.path.join(self.top, "work")
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_")}
        environment.update(CUDA_CACHE_DISABLE="1", HOME=self.top, PLAYER_MEMORY=memory)
        if cache:
            environment.update(LD_PRELOAD=os.path.join(self.build, "libnvrtccache.so"), NVRTCCACHE_DIR=cache)
        player = os.path.join(self.build, "tests", "player")
        done = subprocess.run([player, self.library.path, work, self.played, "/dev/null", rounds], env=environment,
                              cwd=self.top, capture_output=True, timeout=600, check=False)
        return Run(done.stdout.decode("latin-1").splitlines(), done.returncode)

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


class Run(collections.namedtuple("Run", "lines code")):
    def first_round(self):
        marks = [i for i, line in enumerate(self.lines) if line.startswith("round ")]
        return self._replace(lines=self.lines[:marks[1]]) if len(marks) > 1 else self


def difference(wanted, got):
    """None where `got` is right."""
    if wanted.code < 0:
        lines = got.lines[:len(wanted.lines)]
        return None if lines == wanted.lines else first_difference(wanted.lines, lines)
    if got.code != wanted.code:
        return [f"ended with {got.code}, plain with {wanted.code}", *got.lines[-2:]]
    return None if got.lines == wanted.lines else first_difference(wanted.lines, got.lines)


def first_difference(wanted, got):
    for i in range(max(len(wanted), len(got))):
        pair = [lines[i] if i < len(lines) else "nothing" for lines in (wanted, got)]
        if pair[0] != pair[1]:
            return [f"plain {pair[0][:240]}", f"got   {pair[1][:240]}"]
    return None


def poisoned(directory):
    for path in glob.glob(os.path.join(directory, "v1", "??", "*")):
        with open(path, "rb") as file:
            if POISON in file.read():
                return path
    return None


def when_read(clean, plain):
    """By which call the argument was read again, or None."""
    if plain == clean:
        return None
    shared = 0
    while shared < min(len(plain.lines), len(clean.lines)) and plain.lines[shared] == clean.lines[shared]:
        shared += 1
    return clean.lines[shared].split(" get ")[0].strip() if shared < len(clean.lines) else "?"


def try_argument(host, clean, argument, action):
    """(when it was read again, what is wrong)"""
    memory = f"{action}:{argument}"
    plain = host.play(memory, "11")
    cache, why = host.cache(f"{action} {argument}"), []
    runs = [("cold", plain, host.play(memory, "11", cache)),
            ("then", clean.first_round(), host.play("clean", "1", cache)),
            ("disk", plain.first_round(), host.play(memory, "1", host.cache("clean")))]
    for arm, wanted, got in runs:
        what = difference(wanted, got)
        if what:
            why += [f"{action}, {arm}:", *(f"  {line}" for line in what)]
    found = poisoned(cache)
    if found:
        why.append(f"{action}: {os.path.basename(found)} holds {POISON.decode()}")
    shutil.rmtree(cache, ignore_errors=True)
    return when_read(clean, plain), why


def try_case(build, library, case):
    """[(argument, {action: when it was read}, what is wrong)]"""
    host = Host(build, library, case)
    results = []
    try:
        clean = host.play("clean", "11")
        told = host.play("tell", "1").lines
        arguments = list(dict.fromkeys(line[len("  lends "):] for line in told if line.startswith("  lends ")))
        host.play("clean", "1", host.cache("clean"))
        for argument in filter(re.compile(os.environ.get("MEMORY", "")).search, arguments):
            reads, why = {}, []
            for action in ACTIONS:
                reads[action], wrong = try_argument(host, clean, argument, action)
                why += wrong
            results.append((argument, reads, why))
    finally:
        host.close()
    return results


def main():
    build = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    files = [os.path.abspath(f) for f in sys.argv[2:]] or sorted(glob.glob(os.path.join(here, "*.case")))
    path = os.environ.get("NVRTC_LIB")
    if not path or not os.path.exists(path):
        print("1..0 # SKIP no NVRTC found (NVRTC_LIB)")
        return 0
    library = differential.Library(path)
    chosen = re.compile(os.environ.get("CASES", ""))
    cases = [(os.path.basename(file)[:-5], case) for file in files for case in casefile.read(file)
             if chosen.search(case.sentence) and not case.unfit(library)]
    count = bad = 0
    table = collections.defaultdict(collections.Counter)
    workers = int(os.environ.get("CASES_WORKERS", 0)) or os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        runs = [(family, case, pool.submit(try_case, build, library, case)) for family, case in cases]
        for family, case, run in runs:
            wrong = []
            for argument, reads, why in run.result():
                for action, when in reads.items():
                    table[argument][f"{when} ({action})" if when else "at the call"] += 1
                wrong += [f"{argument}, {line}" for line in why]
            count += 1
            bad += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {count} - {family}: {case.sentence}", flush=True)
            for line in wrong[:60]:
                print(f"# {line}")
    for argument, reads in sorted(table.items()):
        print(f"# {argument}: {', '.join(f'{when} {times}' for when, times in reads.most_common())}")
    print(f"1..{count}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
