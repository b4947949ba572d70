#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the code wrong in one place at a time and asks the tests whether they notice.

usage: mutants.py BUILD      (called by `make mutants`, which builds what is needed)

planted.txt holds faults by name, one for each rule by which a hit is never wrong; places.py finds all other places,
and COUNT of them are drawn. A mutant is judged by the tests that reach its line, quickest first, until one fails. One that
does not compile, or whose object is the same bytes, is counted apart. What lives is printed with its place and its change,
and is a failure unless equivalent.txt explains it.

Environment: COUNT (100), SEED (drawn, and printed, where there is none), JOBS (2), FILES (keygen/*.c interpose/*/*.c),
PLANTED (only: nothing is drawn; no: only what is drawn; N: that many of them, drawn; found: is what they change there?
nothing is built), ONLY (a regular expression: of the planted ones those whose names match), BUDGET (60: seconds of tests
for one that was drawn; tests that cost little for a find come first), REACH (new: which test reaches what is measured
anew, else only for tests that are new).
"""
import collections
import concurrent.futures
import difflib
import glob
import os
import queue
import random
import re
import sys
import time

import judges
import places
import workshop

HERE = os.path.dirname(os.path.abspath(__file__))
BUDGET = float(os.environ.get("BUDGET") or 60)
OUTCOMES = ["killed", "lived", "explained", "equivalent", "does not compile", "not found"]


class Mutant:
    """A changed text of one file."""

    def __init__(self, name, path, source, line, budget, first=None, unit=None):
        self.name, self.path, self.source, self.line, self.budget = name, path, source, line, budget
        self.unit = unit or path  # what is compiled
        self.first = first  # the name of the test that is asked first

    def difference(self):
        with open(self.path, encoding="utf-8") as file:
            honest = file.read()
        lines = difflib.unified_diff(honest.split("\n"), self.source.split("\n"), self.path, self.path, "", "", 1, "")
        return "\n".join(f"    {line}" for line in lines)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def planted():
    """planted.txt: "=== the fault", "in FILE by TEST", then lines "- old" and "+ new": text that is there once."""
    found, text = [], read(os.path.join(HERE, "planted.txt"))
    for part in text.split("\n=== ")[1:]:
        name, *lines = part.split("\n")
        files, _, first = lines[0].removeprefix("in ").partition(" by ")
        path, _, unit = files.partition(" through ")
        old, new = [], []
        for line in lines[1:]:
            if line.startswith("- "):
                old.append(line[2:])
            elif line.startswith("+"):
                new.append(line[2:])
        source = read(path)
        words = r"\s+".join(re.escape(word) for word in " ".join(old).split())
        matches = list(re.finditer(words, source))
        if len(matches) != 1:
            found.append(Mutant(name, path, None, 0, 0))
            continue
        begin, end = matches[0].span()
        text = "\n".join(new)
        text += "\n" * (source.count("\n", begin, end) - text.count("\n"))
        found.append(Mutant(name, path, source[:begin] + text + source[end:], source.count("\n", 0, begin) + 1,
                            float("inf"), first, unit))
    return found


def drawn(files, count, seed):
    every = [place for path in files for place in places.places(path, read(path))]
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    print(f"{len(every)} places in {len(files)} files, {len(chosen)} drawn with SEED={seed}", flush=True)
    for place in chosen:
        source = read(place.path)
        yield Mutant(place.name(), place.path, place.apply(source), place.line, BUDGET)


def explained():
    """equivalent.txt: the name of a place, then lines that begin with a blank and say why."""
    known, name = {}, None
    for line in read(os.path.join(HERE, "equivalent.txt")).split("\n"):
        if line.startswith("\t") and name:
            known[name] = " ".join([known[name], line.strip()]).strip()
        elif line and not line.startswith("#"):
            name = line.strip()
            known[name] = ""
    return known


def judge(mutant, shop, reach):
    """(outcome, what says so)"""
    if mutant.source is None:
        return "not found", "what it changes must stand in the file once: plant it anew"
    outcome = shop.make(mutant.unit, mutant.path, mutant.source)
    if outcome != "built":
        return outcome, ""
    first = reach.named(mutant.first)
    wrong = first and first.notices(shop.top, shop.build)
    if wrong:
        return "killed", f"{first}: {wrong}"
    tests, spent, asked = [test for test in reach.of(mutant.path, mutant.line) if test is not first], 0, 0
    for test in tests:
        if asked and spent + test.seconds > mutant.budget:
            break
        wrong = test.notices(shop.top, shop.build)
        if wrong:
            test.kills += 1
            return "killed", f"{test}: {wrong}"
        spent, asked = spent + test.seconds, asked + 1
    return "lived", f"{len(tests)} tests reach it, {asked} were asked" if tests else "no test reaches it"


def report(mutant, outcome, what, seconds):
    print(f"{outcome:17} {seconds:6.1f} s  {mutant.path}:{mutant.line}: {mutant.name.removeprefix(mutant.path + ' | ')}")
    print(f"    {what}" if what else "", end="\n" if what else "")
    if outcome in ("lived", "explained"):
        print(mutant.difference())
    sys.stdout.flush()


def table(counts):
    print(f"\n{'':40}" + "".join(f"{outcome:>18}" for outcome in OUTCOMES))
    for path in [*sorted(path for path in counts if path != "all"), "all"]:
        print(f"{path:40}" + "".join(f"{counts[path][outcome]:18}" for outcome in OUTCOMES))


def main():
    build, jobs = sys.argv[1], int(os.environ.get("JOBS") or 2)
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1, 1000000))
    files = os.environ.get("FILES", "").split() or sorted(glob.glob("keygen/*.c") + glob.glob("interpose/*/*.c"))
    which = os.environ.get("PLANTED", "")
    mutants = [] if which == "no" else [each for each in planted() if re.search(os.environ.get("ONLY", ""), each.name)]
    if which == "found":
        lost = [mutant for mutant in mutants if mutant.source is None]
        print("".join(f"{mutant.path}: {mutant.name}: not there once: plant it anew\n" for mutant in lost), end="")
        return 1 if lost or not mutants else 0
    if which.isdigit():
        mutants = random.Random(seed).sample(mutants, min(int(which), len(mutants)))
        print(f"{len(mutants)} of the planted, drawn with SEED={seed}")
    if which in ("", "no"):
        mutants += drawn(files, int(os.environ.get("COUNT") or 100), seed)
    tests = judges.all_tests(build, judges.library_is_real())
    reach = judges.Reach(build, tests, os.environ.get("REACH") == "new")
    known, counts = explained(), collections.defaultdict(collections.Counter)
    for mutant in mutants:
        mutant.budget = 0 if known.get(mutant.name) else mutant.budget
    shops = queue.Queue()
    for number in range(jobs):
        shops.put(workshop.Workshop(build, f"worker-{number}"))

    def work(mutant):
        shop, begin = shops.get(), time.monotonic()
        try:
            outcome, what = judge(mutant, shop, reach)
        finally:
            shops.put(shop)
        if outcome == "lived" and known.get(mutant.name):
            outcome, what = "explained", known[mutant.name]
        return outcome, what, time.monotonic() - begin

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(work, mutant): mutant for mutant in mutants}
        for done in concurrent.futures.as_completed(running):
            if done.exception():
                pool.shutdown(cancel_futures=True)
            outcome, what, seconds = done.result()
            mutant = running[done]
            report(mutant, outcome, what, seconds)
            counts[mutant.path][outcome] += 1
            counts["all"][outcome] += 1
    table(counts)
    return 1 if counts["all"]["lived"] or counts["all"]["not found"] or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
