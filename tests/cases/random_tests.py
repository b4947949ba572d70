#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Randomised tests: Hypothesis draws histories, and every player must see what the compilers give without the cache.

usage: random_tests.py edits|calls|links|pch|texts BUILD     (TAP on standard output)

    edits   changes to a tree of headers, with compilations between them (random_edits.py)
    calls   sequences of calls of NVRTC (random_calls.py)
    links   the same for nvJitLink and libNVVM (random_links.py)
    pch     sessions of programs that share precompiled headers (random_pch.py)
    texts   programs that depend on paths, on the clock or on a header named by its absolute path (random_texts.py)

A history has a directory, players and a cache of its own, so Hypothesis can shorten one that fails. What is left of it
is saved as BUILD/tests/NAME/SEED.case. Environment: NVRTC_LIB (and NVJITLINK_LIB and NVVM_LIB), the libraries to test
against; ROUNDS, how many steps in all; SECONDS_MOST, stop after so many seconds (without limit if there are ROUNDS);
SEED (1); HISTORY, the numbers of one history, as a failure prints them; SHRINK_SECONDS (120), how long one that fails
is shortened.

What Hypothesis draws of a step is one number, from which random.Random makes the rest: it finds out which steps are
needed (0 is none) in some dozens of tries. Where it draws each choice of a step, thousands, it gets nowhere in minutes:
each try compiles for a second or two.
"""
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from players import Arms, Unserved
from random_calls import Calls
from random_edits import Edits
from random_links import Links
from random_pch import Pch
from random_texts import Texts

PLAYS = {"edits": Edits, "calls": Calls, "links": Links, "pch": Pch, "texts": Texts}
HYPOTHESIS = "6.141.1"  # what is drawn changes with the release
CROWD = 9  # histories of one search: from the tenth on Hypothesis mostly varies those that it has


def find_hypothesis():
    """Makes it importable. It is downloaded from PyPI once."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "hypothesis")
    place = os.path.join(root, f"{HYPOTHESIS}-{sys.version_info[0]}.{sys.version_info[1]}")
    if not os.path.exists(place):
        os.makedirs(root, exist_ok=True)
        new = tempfile.mkdtemp(dir=root)
        done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
                               "--only-binary=:all:", "--target", new, f"hypothesis=={HYPOTHESIS}"],
                              capture_output=True, check=False)
        try:
            if done.returncode == 0:
                os.rename(new, place)
        except OSError:
            pass  # another process was faster
        shutil.rmtree(new, ignore_errors=True)
    sys.path.insert(0, place)
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(root, "storage")
    return os.path.exists(place)


class Over(BaseException):
    """Not for Hypothesis, which goes on behind an Exception."""


class Search:
    def __init__(self, name, build, libraries):
        self.name, self.play, self.build, self.library = name, PLAYS[name], os.path.abspath(build), libraries[0]
        self.seed = int(os.environ.get("SEED", 1))
        self.rounds = int(os.environ.get("ROUNDS", self.play.ROUNDS))
        self.stop = time.monotonic() + float(os.environ.get("SECONDS_MOST", 1e9 if "ROUNDS" in os.environ else
                                                            self.play.SECONDS))
        self.saved = os.path.join(self.build, "tests", name, f"{self.seed}.case")
        self.count, self.steps, self.histories = collections.Counter(), 0, 0  # without a failure
        self.failure, self.failed = None, []  # the last, and so the shortest; its numbers

    def over(self):
        return time.monotonic() > self.stop or (not self.failure and self.steps >= self.rounds)

    def live(self, world, steps):
        """One history. Nothing but these numbers decides what it is."""
        if self.over():
            raise Over
        if self.failure and self.failed == [world, *steps][:len(self.failed)]:
            raise self.failure  # what follows does not matter
        rng, done = random.Random(world), []
        with tempfile.TemporaryDirectory(prefix=f"nvrtccache-{self.name}-") as work:
            arms = Arms(self.build, self.library, work)
            try:
                with arms:
                    play = self.play(rng, arms)
                    play.begin()
                    for number, step in enumerate(steps):
                        if self.over() and not self.failure:
                            break
                        rng.seed(step)
                        done.append(step)
                        play.step(number)
                    play.end()
            except Exception as failure:
                self.fail(failure, [world, *done], arms)
                raise
        self.histories += not self.failure
        self.steps += 0 if self.failure else len(done)
        self.count += collections.Counter() if self.failure else play.count

    def fail(self, failure, numbers, arms):
        if not self.failure:
            self.stop = time.monotonic() + float(os.environ.get("SHRINK_SECONDS", 120))
        self.failure, self.failed = failure, numbers
        os.makedirs(os.path.dirname(self.saved), exist_ok=True)
        arms.save(self.saved, f"Random {self.name}, seed {self.seed}, history {' '.join(map(str, numbers))}.")

    def run(self):
        from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, strategies
        number = strategies.integers(0, 65535)

        @settings(max_examples=CROWD, database=None, deadline=None, phases=[Phase.generate, Phase.shrink],
                  report_multiple_bugs=False, suppress_health_check=list(HealthCheck), verbosity=Verbosity.quiet)
        @given(number, strategies.lists(number, min_size=self.play.STEPS, max_size=self.play.STEPS))
        def history(world, steps):
            if any(steps):
                self.live(world, list(filter(None, steps)))

        try:
            if "HISTORY" in os.environ:
                world, *steps = map(int, os.environ["HISTORY"].split())
                self.live(world, steps)
                return
            searches = 0
            while not self.over():
                seed(f"{self.seed} {searches}")(history)()
                searches += 1
        except Over:
            pass
        except Exception as failure:
            self.failure = self.failure or failure


def report(search):
    """The exit status."""
    print(f"# seed {search.seed}, {search.steps} steps in {search.histories} histories")
    for name, count in sorted(search.count.items()):
        print(f"# {count:6} {name}")
    failure, results = search.failure, []
    for sentence, unserved in zip(search.play.SENTENCES, (False, True)):
        good = failure is None or isinstance(failure, Unserved) != unserved
        why = [] if good else ["".join(traceback.format_exception_only(type(failure), failure)).strip(),
                               *getattr(failure, "lines", traceback.format_tb(failure.__traceback__)[-1:]), search.saved]
        if not good and os.path.exists(search.saved):
            with open(search.saved, encoding="utf-8") as file:
                why += [line[:200] for line in file.read().splitlines()[-300:]]
        results.append((good, sentence, why))
    results += search.play.proofs(search.count, search.steps)
    for number, (good, sentence, why) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {sentence}")
        print("".join(f"# {line}\n" for line in why), end="")
    print(f"1..{len(results)}")
    return not all(good for good, _, _ in results)


def main():
    name, build = sys.argv[1:]
    play = PLAYS[name]
    libraries = [os.environ.get(library) for library in play.LIBRARIES]
    reason = None
    if not all(library and os.path.exists(library) for library in libraries):
        reason = f"not found: {', '.join(play.LIBRARIES)}"
    elif not find_hypothesis():
        reason = f"no Hypothesis {HYPOTHESIS} (pip cannot get it)"
    if reason:
        print(f"ok 1 - {play.SENTENCES[0]} # SKIP {reason}\n1..1")
        return 0
    # Where there is a driver, NVRTC's own cache would be warm in some players only.
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    search = Search(name, build, libraries)
    with tempfile.TemporaryDirectory(prefix=f"nvrtccache-{name}-") as place:
        play.prepare(search.build, place)
        search.run()
    return report(search)


if __name__ == "__main__":
    sys.exit(main())
