# SPDX-License-Identifier: MIT
"""Random sequences of calls of NVRTC: every player must see what NVRTC without the cache gives (random_tests.py).

Sequences (call_world.py, call_life.py) begin as others did and go another way, in one process and in fresh ones, over
one cache that loses some of its results now and then.
"""
import collections

import differential
from call_life import DIRECTORIES, SETTLE, plant
from call_world import World
from players import FILE_VERBS, Play, Session, Unserved, compiles, verb

# Players are in step over the commands of a sequence, so none is there twice but fresh ones.
ORDERS = ["LF", "LF", "LF", "LF", "FL", "FL", "FL", "FL", "FLF", "FF", "LV", "FV"]


class Calls(Play):
    SENTENCES = ("In every sequence of calls, each player gives what NVRTC gives.",
                 "What one player kept, the next is served.")
    PROOF = "Memory and disk both gave hits, and handles that were served were compiled."
    KINDS = [*Play.KINDS, "L: a compile after hits of the handle", "F: a compile after hits of the handle"]
    STEPS, ROUNDS, SECONDS, LEAST = 12, 200, 40, 60

    def __init__(self, rng, arms):
        super().__init__(rng, arms)
        self.files = {}
        self.lost = False  # some of what a process has in memory is not in the directory

    def begin(self):
        self.arms.change(self.arms.record("plant", "", [f"mkdir {directory}" for directory in DIRECTORIES]))
        self.world = World(self.rng, differential.Library(self.arms.library).release)

    def forget(self, number):
        part = str(self.rng.randrange(5))
        for what in self.rng.choice([["restart"], [part], [part, "restart"]]):
            self.arms.forget(number, what)
            self.lost = what != "restart"
            self.count[f"forgot: {'memory' if what == 'restart' else 'results'}"] += 1

    def step(self, number):
        if self.rng.random() < 0.12:
            self.forget(number)
        how, calls, life = self.world.sequence()
        order = self.rng.choice(ORDERS)
        # NVRTC's module ids have the process's number in them, and sizes its digits.
        if "alone" in life.kinds and len(self.arms.lengths) > 1:
            self.count["left out: processes with longer numbers"] += 1
            return
        changes = plant(self.files, self.world.files)
        if changes:
            self.arms.change(self.arms.record(f"{number} plant", "", changes))
        self.files = dict(life.files)
        commands = [f"chdir {self.world.cwd}", *life.commands, *life.end()]
        # of several changes in a row the last one settles all
        commands = [command for command, following in zip(commands, [*commands[1:], "use"])
                    if command != SETTLE or verb(following) not in FILE_VERBS]
        self.arms.record(f"{number} {how}", order, commands)
        self.count[f"sequence: {how}"] += 1
        self.count.update(f"call: {call[0]}" for call in calls)
        self.order, self.real, self.hit = order, collections.defaultdict(set), collections.defaultdict(set)
        slot = 0
        with Session(self.arms, order) as session:
            for asked, outcomes in session.play(commands):
                for words in map(str.split, asked):
                    slot = int(words[1]) if words[0] in ("use", "create") and len(words) > 1 else slot
                if compiles(asked[-1]):
                    self.seen(slot, asked[-1], [found[-1] if found else None for found in outcomes], session.expected)

    def seen(self, slot, command, outcomes, expected):
        """Counts, and looks whether what one player kept is served to the next."""
        order, real, hit = self.order, self.real, self.hit
        code = next((line.split()[1] for line in expected if line.startswith("  compile ")), "none")
        self.count[f"NVRTC: compile {code}"] += 1
        for place, (arm, outcome) in enumerate(zip(order, outcomes)):
            kind = outcome.kind if outcome else "compared, or cancelled"
            self.count[f"{arm}: {kind}"] += 1
            self.count["results that did not hold"] += len(outcome.doubts) if outcome else 0
            first = outcomes[0]
            # A handle that a player compiled for real is not served what hangs on files (interpose/compile/replay.h).
            if place and arm != "V" and first and first.known and not outcome_hit(outcome) and not real[place, slot] \
                    and not (first.kind == "hit in memory" and self.lost):
                raise Unserved(f"{command}: {order[0]} {first.kind}, then {arm} "
                               f"{outcome and (outcome.kind, outcome.doubts)}")
            if outcome_hit(outcome):
                hit[place, slot].add(command)
                self.count[f"{arm}: hit after a compile of the handle"] += bool(real[place, slot])
            elif command.startswith(("compile", "thread")):
                self.count[f"{arm}: a compile after hits of the handle"] += bool(hit[place, slot]) and code in "06"
                # what was served is compiled before NVRTC refuses an option
                if code != "5" or hit[place, slot]:
                    real[place, slot].add(command)


def outcome_hit(outcome):
    return outcome is not None and outcome.hit
