#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random sequences of calls of nvJitLink and libNVVM: every player must see what they give without the cache.

usage: random_links.py BUILD                   (TAP on standard output)
       random_links.py BUILD --shrink HISTORY  (the least part of a saved history that still differs)

Sequences (link_world.py) begin as others did and go another way, in one process and in fresh ones, over one cache that
loses some of its results now and then; edit_arms.py tells of the players, random_calls.py does the same for NVRTC.
Environment: NVRTC_LIB, NVJITLINK_LIB and NVVM_LIB, the libraries; ROUNDS, how many sequences (200); SECONDS_MOST, stop
after so many seconds (30 without ROUNDS); SEED (1). A difference is saved as BUILD/tests/links/SEED-ROUND.case.
"""
import collections
import os
import random
import sys
import time

import random_calls
from edit_arms import Died, Difference, Session, save
from link_world import World
from random_edits import Private, Tap

ROUNDS_OF_A_WORLD = 16
ORDERS = ["LF", "LF", "FL", "FL", "FF", "LV", "FV"]


def play(arms, order, commands, count):
    with Session(arms, order) as session:
        for arm, outcomes in zip(order, session.ask(commands)):
            for outcome in outcomes:
                count[f"{arm}: {outcome.kind}"] += 1
                yield from outcome.strange


class Run:
    def __init__(self, rng, arms, seed):
        self.rng, self.arms, self.refused = rng, arms, seed % 2 == 0
        self.history, self.count, self.strange = [], collections.Counter(), []
        self.world = None

    def round(self, number):
        rng = self.rng
        if number % ROUNDS_OF_A_WORLD == 0:
            self.world = World(rng, number // ROUNDS_OF_A_WORLD, self.refused)
        if rng.random() < 0.12:
            for what in rng.choice([["restart"], [str(rng.randrange(5))]]):
                self.history.append(("", f"{number} forget {what}", []))
                self.arms.forget(what)
        order, commands = rng.choice(ORDERS), self.world.sequence()
        self.history.append((order, f"{number} sequence", commands))
        self.strange += play(self.arms, order, commands, self.count)


def main():
    build = sys.argv[1]
    libraries = [os.environ.get(name) for name in ("NVRTC_LIB", "NVJITLINK_LIB", "NVVM_LIB")]
    sentence = "In every sequence of calls, each player gives what nvJitLink and libNVVM give."
    if not all(library and os.path.exists(library) for library in libraries):
        print(f"ok 1 - {sentence} # SKIP no NVRTC, nvJitLink or libNVVM found\n1..1")
        return 0
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    if sys.argv[2:3] == ["--shrink"]:
        return random_calls.shrink(build, libraries[0], sys.argv[3])
    rounds, seed = int(os.environ.get("ROUNDS", 200)), int(os.environ.get("SEED", 1))
    stop = time.monotonic() + float(os.environ.get("SECONDS_MOST", 1e9 if "ROUNDS" in os.environ else 30))
    tap = Tap()
    with Private() as work:
        arms = random_calls.Forgetful(build, libraries[0], work)
        run = Run(random.Random(seed), arms, seed)
        why, number = [], 0
        try:
            for number in range(rounds):
                if time.monotonic() > stop:
                    break
                run.round(number)
        except (Difference, Died) as failure:
            saved = os.path.join(build, "tests", "links", f"{seed}-{number}.case")
            os.makedirs(os.path.dirname(saved), exist_ok=True)
            save(saved, f"Random calls of nvJitLink and libNVVM, seed {seed}, round {number}.", run.history)
            why = [f"{failure}", *getattr(failure, "lines", []), f"history: {saved}"]
        why += random_calls.end(arms)
        print(f"# seed {seed}, {number + 1} sequences")
        for kind, count in sorted(run.count.items()):
            print(f"# {count:7} {kind}")
        tap.check(not why, sentence, why)
        tap.check(not run.strange, "Every hit that was compiled too was right.", run.strange)
        kinds = ["L: hit in memory", "L: hit on disk", "F: hit on disk", "L: stored", "F: stored"]
        tap.check(all(run.count[kind] for kind in kinds) or number < 40, "Memory and disk both gave hits.",
                  [f"{run.count[kind]} {kind}" for kind in kinds])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
