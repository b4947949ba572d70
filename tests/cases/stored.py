#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is all that is stored a function of the key? Plays case files cold into two caches, under two deliberately different
surroundings, and compares what was stored under each key.

usage: stored.py BUILD [CASE-FILE...]     (TAP on standard output)

The second player differs from the first in what fresh and freed memory holds, the layout of its address space (where
setarch can turn randomization off), pid, depth of the stack, order and number of variables, open descriptors, umask,
priority, processors that it may run on, clock, and name of the host (as root). Files lie in the same places, because
those are in keys.

Equal are sections and dependencies, byte by byte; module ids and what else verify mode passes over are compared as there
(tests/cases/stored.c). What a compiler seals together with such an id (LTO-IR, OptiX IR, debug information) is counted,
and so is what has no counterpart. Environment: as of differential.py; STORED_VERBOSE shows all that is not the same.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import casefile
from differential import HERE, Library

DESCRIPTORS = 40
SUMMARY = re.compile(r"same (\d+) ids (\d+) sealed (\d+) different (\d+) elsewhere (\d+) missing (\d+)$")
NAMES = ("same", "ids", "sealed", "different", "elsewhere", "missing")


def works(*words):
    return shutil.which(words[0]) and subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                                     stderr=subprocess.DEVNULL).returncode == 0


def available(*commands):
    """Those words in front of a command that work here."""
    return [word for words in commands if works(*words) for word in words]


def first_surroundings(_build):
    return available(["setarch", "-R"]), {"MALLOC_PERTURB_": "17"}, []


def second_surroundings(build):
    processor = min(os.sched_getaffinity(0))
    words = available(["unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "sh"], ["taskset", "-c", str(processor)],
                      ["nice", "-n", "3"])
    # a preload that is an hour ahead
    return words, {"MALLOC_PERTURB_": "238", **{f"UNRELATED_{number}": "x" * 200 for number in range(200)}}, \
        [os.path.join(build, "tests", "fixtures", "libother_clock.so")]


class Bench:
    def __init__(self, build, library):
        self.build, self.library = os.path.abspath(build), library
        self.top = tempfile.mkdtemp(prefix="nvrtccache-stored-")
        self.first, self.second = (os.path.join(self.top, name) for name in ("first", "second"))

    def play(self, cases, cache, surroundings, turned):
        work, played = os.path.join(self.top, "work"), os.path.join(self.top, "cases")
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        casefile.write(played, cases)
        words, variables, preloads = surroundings(self.build)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_") or k == "NVRTCCACHE_SLOPPINESS"}
        environment.update(variables, CUDA_CACHE_DISABLE="1", HOME=self.top, NVRTCCACHE_DIR=cache)
        preload = "LD_PRELOAD=" + " ".join([*preloads, os.path.join(self.build, "libnvrtccache.so")])
        opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(DESCRIPTORS if turned else 0)]
        if turned:
            environment = dict(reversed(environment.items()))
        try:
            done = subprocess.run([*words, "env", preload, os.path.join(self.build, "tests", "player"), self.library.path, work,
                                   played, os.devnull, "1"], env=environment, cwd=self.top, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=opened, timeout=3600,
                                  umask=0o077 if turned else 0o022)
        finally:
            for descriptor in opened:
                os.close(descriptor)
        return [] if done.returncode == 0 else [f"the player ended with {done.returncode}",
                                                *done.stderr.decode(errors="replace").splitlines()[:10]]

    def compare(self):
        """The counts by name, and what is to be said of those that differ."""
        done = subprocess.run([os.path.join(self.build, "tests", "stored"), self.first, self.second], capture_output=True,
                              text=True)
        lines = done.stdout.splitlines()
        found = SUMMARY.match(lines[-1] if lines else "")
        if not found:
            return {}, [f"stored ended with {done.returncode}: {done.stderr}"]
        said = []
        for line in lines[:-1]:
            if line.startswith("DIFFERENT ") or os.environ.get("STORED_VERBOSE"):
                said += [line, *self.shown(line.split()[1].replace("/", ""))]
        return dict(zip(NAMES, map(int, found.groups()))), said

    def shown(self, key):
        done = subprocess.run([os.path.join(self.build, "nvrtccache"), "show", key], capture_output=True, text=True,
                              env=dict(os.environ, NVRTCCACHE_DIR=self.first))
        return [f"  {line}" for line in done.stdout.splitlines()[1:6]]

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


def judge(build, library, path):
    """(counts, what is wrong) of one case file; None where none of its cases is for these libraries."""
    chosen = re.compile(os.environ.get("CASES", ""))
    fit = [case for case in casefile.read(path) if chosen.search(case.sentence) and not case.unfit(library)]
    if not fit:
        return None
    bench = Bench(build, library)
    try:
        wrong = bench.play(fit, bench.first, first_surroundings, False) or bench.play(fit, bench.second, second_surroundings, True)
        return ({}, wrong) if wrong else bench.compare()
    finally:
        bench.close()


def main():
    build = sys.argv[1]
    files = [os.path.abspath(f) for f in sys.argv[2:]] or sorted(glob.glob(os.path.join(HERE, "*.case")))
    path = os.environ.get("NVRTC_LIB")
    if not path or not os.path.exists(path):
        print("1..0 # SKIP no NVRTC found (NVRTC_LIB)")
        return 0
    library = Library(path)
    count = bad = 0
    total = dict.fromkeys(NAMES, 0)
    workers = int(os.environ.get("CASES_WORKERS", 0)) or os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        runs = {file: pool.submit(judge, build, library, file) for file in sorted(files, key=os.path.getsize, reverse=True)}
        for file in files:
            result = runs[file].result()
            count += 1
            sentence = f"{os.path.basename(file)[:-5]}: what is stored is a function of the key."
            if result is None:
                print(f"ok {count} - {sentence} # SKIP no case of it is for these libraries")
                continue
            counts, said = result
            for name in counts:
                total[name] += counts[name]
            failed = not counts or counts["different"]
            bad += bool(failed)
            print(f"{'not ok' if failed else 'ok'} {count} - {sentence}", flush=True)
            for line in said[:60] if failed or os.environ.get("STORED_VERBOSE") else []:
                print(f"# {line}")
    print("# " + ", ".join(f"{number} {name}" for name, number in total.items()))
    print(f"1..{count}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
