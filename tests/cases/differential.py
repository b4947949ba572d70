#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays every case file plainly, cold, warm and verified, and compares everything that a host can see.

usage: differential.py BUILD [CASE-FILE...]     (TAP on standard output)

"#once 1": only round 1 is counted. "#neutral N": so many of its compiles hit in round 2 of the cold run, in another directory with the same content.
Environment: NVRTC_LIB, the library to test against. A case's comment "#hits N" says how many of its compiles must be hits
when warm; without it every compile that returns 0 or 6 must be one. "#needs FUNCTION" skips a case for older libraries.
"""
import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def split(text):
    """Output of the player -> {(round, sentence): lines}"""
    cases, key = {}, None
    which = 0
    for line in text.splitlines():
        if line.startswith("round "):
            which = int(line.split()[1])
        elif line.startswith("=== "):
            key = (which, line[4:])
            cases[key] = []
        elif key:
            cases[key].append(line)
    return cases


def split_log(path):
    """Log with case marks -> {(round, sentence): lines}"""
    cases, key, seen = {}, None, {}
    if not os.path.exists(path):
        return cases
    with open(path, errors="replace") as file:
        for line in file.read().splitlines():
            if line.startswith("=== "):
                seen[line[4:]] = seen.get(line[4:], 0) + 1
                key = (seen[line[4:]], line[4:])
                cases[key] = []
            elif key:
                cases[key].append(line)
    return cases


def directives(path):
    """{sentence: {directive: value}}"""
    found, sentence = {}, None
    with open(path) as file:
        for line in file:
            if line.startswith("=== "):
                sentence = line[4:].rstrip("\n")
                found[sentence] = {}
            match = re.match(r"#(\w+)\s+(\S+)", line)
            if match and sentence:
                found[sentence][match.group(1)] = match.group(2)
    return found


def exports(library):
    """Asks a library whether it has a function: exports(library)(name)"""
    handle = ctypes.CDLL(library, mode=os.RTLD_LAZY | os.RTLD_LOCAL)
    return lambda name: hasattr(handle, name)


class Bench:
    def __init__(self, build, player, library):
        self.build, self.player, self.library = build, player, library
        self.top = tempfile.mkdtemp(prefix="nvrtccache-cases-")
        self.number = 0

    def run(self, case_file, cached, **extra):
        work = os.path.join(self.top, "work")
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        log = os.path.join(self.top, "log")
        if os.path.exists(log):
            os.unlink(log)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_")}
        if cached:
            preload = os.path.join(os.path.abspath(self.build), "libnvrtccache.so")
            environment["LD_PRELOAD"] = " ".join(filter(None, [os.environ.get("CASES_PRELOAD_FIRST"), preload]))
            environment["NVRTCCACHE_DIR"] = os.path.join(self.top, "cache")
            environment["NVRTCCACHE_LOG"] = log
            environment["NVRTCCACHE_LOG_LEVEL"] = "info"
            environment.update(extra)
        done = subprocess.run([self.player, self.library, work, case_file, log], env=environment, cwd=self.top,
                              capture_output=True, timeout=900)
        output = done.stdout.decode(errors="replace")
        return done.returncode, split(output), split_log(log), done.stderr.decode(errors="replace")

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


def main():
    build = sys.argv[1]
    files = [os.path.abspath(f) for f in sys.argv[2:]] or sorted(glob.glob(os.path.join(HERE, "*.case")))
    library = os.environ.get("NVRTC_LIB")
    if not library or not os.path.exists(library):
        print("ok 1 - Cases are indistinguishable. # SKIP no NVRTC found (NVRTC_LIB)\n1..1")
        return 0
    tap = {"count": 0, "bad": 0}

    def report(good, sentence, why=()):
        tap["count"] += 1
        tap["bad"] += not good
        print(f"{'ok' if good else 'not ok'} {tap['count']} - {sentence}", flush=True)
        for line in list(why)[:40]:
            print(f"# {line}")

    has = exports(library)
    for case_file in files:
        bench = Bench(build, os.path.join(os.path.abspath(build), "tests", "player"), library)
        family = os.path.basename(case_file)[:-5]
        try:
            plain_code, plain, _, errors = bench.run(case_file, False)
            runs = [("cold", *bench.run(case_file, True)), ("warm", *bench.run(case_file, True)),
                    ("verified", *bench.run(case_file, True, NVRTCCACHE_VERIFY="1"))]
        finally:
            bench.close()
        if plain_code != 0:
            report(False, f"{family}: the cases can be played without us.", errors.splitlines())
            continue
        wanted = directives(case_file)
        for sentence, marks in wanted.items():
            if "needs" in marks and not has(marks["needs"]):
                tap["count"] += 1
                print(f"ok {tap['count']} - {family}: {sentence} # SKIP this NVRTC has no {marks['needs']}")
                continue
            why = []
            for kind, code, seen, log, errors in runs:
                if code != 0:
                    why.append(f"{kind}: the player ended with {code}: {errors[:300]}")
                for which in (1, 2):
                    expected, got = plain.get((which, sentence), []), seen.get((which, sentence), [])
                    if expected != got:
                        why.append(f"{kind}, round {which}: output differs")
                        why += [f"  plain {a!r}\n#   got   {b!r}" for a, b in
                                zip(expected + [None] * len(got), got + [None] * len(expected)) if a != b][:6]
                    if any("verify:" in line for line in log.get((which, sentence), [])):
                        why.append(f"{kind}, round {which}: verify found a difference")
            compiles = sum(bool(re.match(r"  compile [06]$", line)) for line in plain.get((1, sentence), []))
            hits = int(marks.get("hits", compiles))
            for which in (1,) if "once" in marks else (1, 2):
                lines = dict((run[0], run[3]) for run in runs)["warm"].get((which, sentence), [])
                found = sum(": hit " in line for line in lines)
                if found != hits:
                    why.append(f"warm, round {which}: {found} hits, expected {hits}")
                    why += [f"  {line}" for line in lines]
            if "neutral" in marks:
                lines = dict((run[0], run[3]) for run in runs)["cold"].get((2, sentence), [])
                found = sum(": hit " in line for line in lines)
                if found != int(marks["neutral"]):
                    why.append(f"cold, round 2, another directory: {found} hits, expected {marks['neutral']}")
                    why += [f"  {line}" for line in lines]
            report(not why, f"{family}: {sentence}", why)
    print(f"1..{tap['count']}")
    return tap["bad"] != 0


if __name__ == "__main__":
    sys.exit(main())
