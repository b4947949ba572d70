#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays every case file in front of the compilers, and compares everything that a host can see.

usage: differential.py BUILD [CASE-FILE...]     (TAP on standard output)

    plain       without us, in two directories: what is right. What was printed is kept for the next run (kept.py)
    cold        with an empty cache
    disk        a fresh process without the memory front: every hit comes from a file
    memory      a fresh process, everything twice: the second time every hit comes from memory
    verified    NVRTCCACHE_VERIFY=1: every hit is compiled for real too, and compared

casefile.py and player.c tell what a case file says. Environment: NVRTC_LIB, the library to test against, and
NVJITLINK_LIB and NVVM_LIB, for files that need them; CASES_ARMS, the arms to play besides plain (all); CASES_PLACES=1, one directory only; CASES, a regular expression for the sentences
to play (all); CASES_WORKERS, how many files at a time (as many as there are processors).
"""
import concurrent.futures
import ctypes
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import casefile
import kept

HERE = os.path.dirname(os.path.abspath(__file__))

# arm: (rounds of the player, environment)
ARMS = {
    "cold": ("12", {}),
    "disk": ("12", {"NVRTCCACHE_MEM_SIZE": "0"}),
    "memory": ("11", {}),
    "verified": ("1", {"NVRTCCACHE_VERIFY": "1"}),
}


if os.environ.get("CASES_PLACES") == "1":
    ARMS = {arm: (rounds.replace("2", ""), environment) for arm, (rounds, environment) in ARMS.items()}


def split(lines, numbered):
    """Output of the player, or a log with case marks -> {(pass, sentence): lines}"""
    cases, key, seen = {}, None, {}
    for line in lines:
        if line.startswith("=== "):
            seen[line[4:]] = seen.get(line[4:], 0) + 1
            key = (seen[line[4:]], line[4:])
            cases[key] = []
        elif key and not (numbered and line.startswith("round ")):
            cases[key].append(line)
    return cases


class Library:
    def __init__(self, path):
        self.path = path
        self.handle = ctypes.CDLL(path, mode=os.RTLD_LAZY | os.RTLD_LOCAL)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.handle.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.release = (major.value, minor.value)
        self.linker = self.open("NVJITLINK_LIB")
        self.nvvm = self.open("NVVM_LIB")

    @staticmethod
    def open(variable):
        path = os.environ.get(variable)
        return ctypes.CDLL(path, mode=os.RTLD_LAZY | os.RTLD_LOCAL) if path and os.path.exists(path) else None

    def has(self, what):
        """A function, or one of casefile.COMPILERS."""
        if what in casefile.COMPILERS:
            return {"nvJitLink": self.linker, "libNVVM": self.nvvm}[what] is not None
        owner = self.linker if "nvJitLink" in what else self.nvvm if "nvvm" in what else self.handle
        return hasattr(owner, what)

    def release_for(self, case):
        """The release that a case's marks are about, and whose it is: nvJitLink's own; libNVVM does not tell its own, and
        is taken to be of NVRTC's toolkit."""
        if "nvJitLink" not in case.needs():
            return self.release, "NVRTC"
        return max((major, minor) for major in (12, 13) for minor in range(20)
                   if hasattr(self.linker, f"__nvJitLinkCreate_{major}_{minor}")), "nvJitLink"


class Bench:
    """One case file, in a directory of its own."""

    def __init__(self, build, library, top=None):
        self.build, self.library = os.path.abspath(build), library
        self.top = top or tempfile.mkdtemp(prefix="nvrtccache-cases-")
        self.cache = os.path.join(self.top, "cache")

    def run(self, cases, rounds, cached, extra):
        work, log, played = (os.path.join(self.top, name) for name in ("work", "log", "cases"))
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        if os.path.exists(log):
            os.unlink(log)
        casefile.write(played, cases)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_")}
        # NVRTC's own cache, where there is a driver, would be warm in some arms only
        environment.update(CUDA_CACHE_DISABLE="1", HOME=self.top)
        if cached:
            preload = os.path.join(self.build, "libnvrtccache.so")
            environment["LD_PRELOAD"] = " ".join(filter(None, [os.environ.get("CASES_PRELOAD_FIRST"), preload]))
            environment.update(NVRTCCACHE_DIR=self.cache, NVRTCCACHE_LOG=log, NVRTCCACHE_LOG_LEVEL="info")
            environment.update(extra)
        player = os.path.join(self.build, "tests", "player")
        process = subprocess.Popen([player, self.library.path, work, played, log, rounds], env=environment, cwd=self.top,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            output, errors = process.communicate(timeout=3600)
        finally:
            process.kill()
        lines = []
        if os.path.exists(log):
            with open(log, encoding="latin-1") as file:
                lines = file.read().split("\n")
        return Run(process.returncode, len(str(process.pid)), split(output.decode("latin-1").splitlines(), True), split(lines, False),
                   errors.decode(errors="replace"))

    def counter(self, name):
        done = subprocess.run([os.path.join(self.build, "nvrtccache"), "stats", "--json"], capture_output=True,
                              env=dict(os.environ, NVRTCCACHE_DIR=self.cache), check=True)
        return json.loads(done.stdout)[name]

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


class Run:
    def __init__(self, code, pid_digits, output, log, errors):
        self.code, self.pid_digits, self.output, self.log, self.errors = code, pid_digits, output, log, errors


HIT = re.compile(r"\]: \w+: (hit in memory|hit on disk),")


def hit_lines(run, key):
    return [found[1] for found in map(HIT.search, run.log.get(key, [])) if found]


# What the player prints of calls whose results are kept: what a compiler made, or says is wrong with the input.
COUNTED = re.compile(r"  (compile [06]|nvvm (verify|compile) [069]|linker (complete [045]|step \w+ [04]))$")


def wanted_hits(case, plain, library):
    """How many; None where they are not counted."""
    lines = plain.get((1, case.sentence), [])
    return case.hits(sum(bool(COUNTED.match(line)) for line in lines), library.release_for(case)[0])


def judge(case, arm, plain, run, library):
    """What is wrong with one case in one arm."""
    why = []
    rounds = ARMS[arm][0]
    if run.code != 0:
        why.append(f"{arm}: the player ended with {run.code}: {run.errors[:300]}")
    for number, letter in enumerate(rounds, 1):
        key = (number, case.sentence)
        expected, got = plain.get((int(letter), case.sentence), []), run.output.get(key, [])
        if expected != got:
            why.append(f"{arm}, round {number}: output differs")
            why += [line for a, b in zip(expected + [None] * len(got), got + [None] * len(expected)) if a != b
                    for line in (f"  plain {a!r}"[:700], f"  got   {b!r}"[:700])][:12]
        if case.mark("unverified") is None and any("verify:" in line for line in run.log.get(key, [])):
            why.append(f"{arm}, round {number}: verify found a difference")
        hits = hit_lines(run, key)
        wanted, place = wanted_hits(case, plain, library), None
        if arm == "disk":
            place = "hit on disk"
        elif arm == "memory":
            place = "hit in memory" if number == 2 else ""
        if place is not None and wanted is not None and not (case.mark("once") is not None and number == 2) and \
                (len(hits) != wanted or not all(line.startswith(place) for line in hits)):
            why.append(f"{arm}, round {number}: expected {wanted} times '{place or 'hit'}'")
            why += [f"  {line}" for line in run.log.get(key, [])]
    if arm == "cold" and case.mark("neutral") and "2" in rounds:
        found, wanted = len(hit_lines(run, (2, case.sentence))), int(case.mark("neutral")[0])
        if found != wanted:
            why.append(f"cold, round 2, another directory: {found} hits, expected {wanted}")
            why += [f"  {line}" for line in run.log.get((2, case.sentence), [])]
    return why


def play(build, library, path, arms):
    """The results of one case file: (sentence, skip reason or None, what is wrong). Module ids hold the pid, whose length
    shows in names and sizes: where processes had pids of different lengths and something differs, all is played anew."""
    while True:
        results, lengths = play_once(build, library, path, arms)
        if len(lengths) == 1 or not any(why for _, _, why in results):
            return results


class Plain:
    """What is right for the cases of one file: kept from an earlier run, or played now."""

    def __init__(self, build, library, path, fit, arms):
        self.fit, self.rounds = fit, "1" if os.environ.get("CASES_PLACES") == "1" else "12"
        self.name = hashlib.sha256(repr((path, library.path, self.rounds)).encode()).hexdigest()[:12]
        # without the cold arm nobody would notice that the compilers answer otherwise than they did
        self.keeps = "cold" in arms and not os.environ.get("CASES")
        self.place = kept.Place(os.path.abspath(build), f"{os.path.basename(path)[:-5]}-{self.name}" if self.keeps else None)
        self.bench = Bench(build, library, self.place.top)
        self.key = kept.digest(os.path.join(build, "tests", "player"),
                               [library.path, os.environ.get("NVJITLINK_LIB"), os.environ.get("NVVM_LIB")],
                               self.rounds, self.place.top, [(case.sentence, case.lines) for case in fit])
        self.run, self.is_kept = None, False

    def recall(self):
        found = self.place.read(self.key)
        self.is_kept = found is not None
        if found:
            self.run = Run(0, found[1], found[0], {}, "")
        else:
            self.play()

    def play(self):
        self.is_kept = False
        self.run = self.bench.run(self.fit, self.rounds, False, {})
        if self.run.code == 0:
            self.place.write(self.key, self.run.output, self.run.pid_digits)


def play_once(build, library, path, arms):
    """Results as of play(), and the lengths of the players' pids."""
    family = os.path.basename(path)[:-5]
    chosen = re.compile(os.environ.get("CASES", ""))
    cases = [case for case in casefile.read(path) if chosen.search(case.sentence)]
    reasons = {case: case.unfit(library) for case in cases}
    fit = [case for case in cases if not reasons[case]]
    plain = Plain(build, library, path, fit, arms)
    runs, verified = {}, 0
    try:
        plain.recall()
        for arm in arms if plain.run.code == 0 else ():
            before = plain.bench.counter("verified") if arm == "verified" else 0
            runs[arm] = plain.bench.run(fit, ARMS[arm][0], True, ARMS[arm][1])
            if arm == "verified":
                verified = plain.bench.counter("verified") - before

        def wrong(case):
            return [line for arm, run in runs.items() for line in judge(case, arm, plain.run.output, run, library)]

        why = {case: wrong(case) for case in fit}
        if plain.is_kept and any(why.values()):
            plain.play()
            why = {case: wrong(case) for case in fit}
    finally:
        plain.place.close()
    lengths = {run.pid_digits for run in [plain.run, *runs.values()]}
    if plain.run.code != 0:
        return [(f"{family}: the cases can be played without us", None,
                 [f"the player ended with {plain.run.code}"] + plain.run.errors.splitlines())], lengths
    results = [(f"{family}: {case.sentence}", reasons[case], why.get(case, [])) for case in cases]
    # More: a handle that verify compiled for real is compared where it would not have been served (replay_allows()).
    if "verified" in arms and fit:
        wanted = sum(wanted_hits(case, plain.run.output, library) or 0 for case in fit if case.mark("unverified") is None)
        results.append((f"{family}: every hit was verified.", None,
                        [] if verified >= wanted else [f"{verified} of {wanted}"]))
    return results, lengths


def main():
    build = sys.argv[1]
    files = [os.path.abspath(f) for f in sys.argv[2:]] or sorted(glob.glob(os.path.join(HERE, "*.case")))
    path = os.environ.get("NVRTC_LIB")
    if not path or not os.path.exists(path):
        print("1..0 # SKIP no NVRTC found (NVRTC_LIB)")
        return 0
    library = Library(path)
    arms = os.environ.get("CASES_ARMS", " ".join(ARMS)).split()
    count = bad = 0
    workers = int(os.environ.get("CASES_WORKERS", 0)) or os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        # the largest first: it ends last
        order = sorted(files, key=os.path.getsize, reverse=True)
        runs = {file: pool.submit(play, build, library, file, arms) for file in order}
        for file in files:
            for sentence, reason, why in runs[file].result():
                count += 1
                bad += bool(why)
                print(f"{'not ok' if why else 'ok'} {count} - {sentence}{f' # SKIP {reason}' if reason else ''}",
                      flush=True)
                for line in why[:40]:
                    print(f"# {line}")
    print(f"1..{count}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
