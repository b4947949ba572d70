# SPDX-License-Identifier: MIT
"""Random changes to a tree of headers: after each, every player must see what NVRTC without the cache gives, and what
is cached must be found again (random_tests.py, edit_world.py, edit_program.py)."""
import collections

from edit_program import SETTLE, Program
from edit_world import World
from players import Play, Session, Unserved

PROGRAMS = 6  # at a time
VERSIONS = 16  # results that one request may have
ORDERS = ["LF", "LF", "FL", "FL", "LL", "LL", "LL", "FF", "LFL"]
# What the next steps do with the same program: (an edit before it, edits between two compiles of the handle or None).
FOLLOWED = [
    *([(edit, None)] for edit in ("same_size", "other_place", "remove", "put", "touch", "pwd", "move", "copy")),
    [("same_size", None), ("back", None)], [("remove", None), ("back", None)], [("move", None), ("move", None)],
    [("alias", None), ("part", None), ("join", None)], [("join", None), ("part", None)],
    [("copy", None), ("same_size", None), ("back", None)],
    [(None, []), ("same_size", ["back"])], [(None, ["same_size"])], [(None, []), ("remove", ["back"])],
]
# Why a result of settled files may be not kept: a directory in the place of a header; __TIME__; a date to come.
ALLOWED = {"files", "time_macros"}


class Edits(Play):
    SENTENCES = ("After every edit, each player gives what NVRTC gives.",
                 "What settled files gave is found again, by the next player and when the files come back.")
    PROOF = "Memory and disk both gave hits, and both kinds of player stored."
    STEPS, ROUNDS, SECONDS, LEAST = 40, 300, 45, 100

    def __init__(self, rng, arms):
        super().__init__(rng, arms)
        self.record = arms.record
        self.world = World(rng, arms.top)
        self.programs = []
        self.compiled = set()  # arms that did a compile of the present handle themselves
        self.seen = {}  # state -> stores of its request until then
        self.stores = collections.Counter()
        self.dirty = True
        self.follow = []  # of the next steps: (edit, program, options, edits between)

    def begin(self):
        self.arms.change(self.record("plant", "", self.world.plant()))

    # One step.

    def change(self, step, name=None, part=None):
        name, commands = self.world.edit(name)
        self.count[f"edit {name}"] += bool(commands)
        if not commands:
            return
        self.dirty = True
        self.play(f"{step} {name}", commands, part)

    def maybe_settle(self, step, chance, part=None):
        if not self.dirty or self.rng.random() >= chance:
            return
        self.play(f"{step} settle", [SETTLE], part)
        self.dirty = False

    def play(self, label, commands, part):
        part = self.record(label) if part is None else part
        part += commands
        self.arms.change(commands)

    def pick(self, step):
        if len(self.programs) < PROGRAMS:
            self.programs.append(Program(self.rng, self.world.bodies, step))
            return self.programs[-1]
        if self.rng.random() < 0.05:
            self.programs.pop(0)
        return self.rng.choice(self.programs[-3:] if self.rng.random() < 0.5 else self.programs)

    def step(self, step):
        followed = self.follow.pop(0) if self.follow else None
        if followed:
            edit, program, options, between = followed
            self.world.focus = program
            if edit:
                self.change(step, edit)
        else:
            program = self.pick(step)
            self.world.focus = program
            for _ in range(self.rng.choice([0, 1, 1, 1, 1, 1, 1, 2, 3])):
                self.change(step)
            options = program.options if self.rng.random() < 0.95 else program.changed_options()
            count = self.rng.choice([0, 1, 1, 2])
            between = [self.rng.choice(["same_size", "back", "remove", None]) for _ in range(count)]
            between = between if self.rng.random() < 0.15 else None
        self.maybe_settle(step, 1 if followed else 0.65)
        order = self.rng.choice(ORDERS if between is None else ["LF", "FL"])
        part = self.record(f"{step} compile program {program.number}", order)
        with Session(self.arms, order) as session:
            enter = self.world.enter(program, not self.dirty)
            self.compile(session, part, program, options, enter, ["destroy"] if between is None else [])
            if between is not None:
                for edit in between:
                    self.change(step, edit, part)
                self.maybe_settle(step, 1 if followed else 0.6, part)
                other = program.other_options if followed or self.rng.random() < 0.7 else program.options
                self.compile(session, part, program, other, [], ["destroy"])
        if not followed and not self.dirty and self.rng.random() < 0.5:
            self.follow = [(edit, program, options, between) for edit, between in self.rng.choice(FOLLOWED)]

    def compile(self, session, part, program, options, enter, leave):
        commands = enter + self.world.compile(program, options) + leave
        state = self.state(program, options, commands) if enter else None
        part += commands
        # A player may be there twice, so it is asked for all at once.
        outcomes = [found for _, found in session.play(commands, lambda _: False) if any(found)]
        self.count.update(f"NVRTC: {line.strip()}" for line in session.expected if line.startswith("  compile "))
        if [len(found) for found in sum(outcomes, [])] != [1] * len(session.order):
            raise Unserved(f"the log does not have a line for a compile: {outcomes}")
        outcomes = [found[0] for found in outcomes[0]]
        for outcome in outcomes:
            self.count[f"{outcome.arm}: {outcome.kind}"] += 1
            for doubt in outcome.doubts:
                self.count[f"not valid: {doubt.split(':')[0].split(' /')[0]}"] += 1
        self.judge(state, outcomes, bool(enter))
        self.compiled = {outcome.arm for outcome in outcomes if not outcome.hit} | (set() if enter else self.compiled)
        self.stores[program.number, *options] += sum(outcome.kind.startswith("stored") for outcome in outcomes)

    # What must be a hit.

    def state(self, program, options, commands):
        """(in this very place, anywhere), or None for a state that cannot come back or is not settled."""
        if self.dirty or program.name == "/new/" or program.cwd == "/gone/":
            return None
        # An absolute --pre-include counts as an unknown option, so times count.
        times = any(option in ("-G", "-lineinfo") or option.startswith("--pre-include=@W") for option in options)
        tree = self.world.signature(times)
        return (tuple(commands), tree), (program.number, *options, tree), (program.number, *options)

    def judge(self, state, outcomes, first_of_handle):
        first, reason = outcomes[0], outcomes[0].kind.replace("not cached: ", "").split(" (")[0]
        if self.dirty:
            return
        self.count["settled compiles"] += 1
        if first.known:
            self.count["settled, and found by the next player"] += all(outcome.hit for outcome in outcomes[1:])
            # A handle that a player compiled for real is not served what hangs on files (interpose/compile/replay.h).
            excused = set() if first_of_handle else self.compiled
            if not all(outcome.hit or outcome.arm in excused for outcome in outcomes[1:]):
                raise Unserved(f"{first.arm} {first.kind}, then "
                               f"{[(outcome.arm, outcome.kind, outcome.doubts) for outcome in outcomes[1:]]}")
        else:
            self.count[f"settled, not cached:  {reason}"] += 1
            # A hit of the same handle cannot be replayed after an edit.
            allowed = ALLOWED if first_of_handle else ALLOWED | {"history"}
            if reason not in allowed:
                raise Unserved(f"settled, and {first.kind}")
        if not state:
            return
        here, anywhere, request = state
        stores = self.stores[request]
        if here in self.seen and stores - self.seen[here] < VERSIONS:
            self.count["returned to a state"] += 1
            self.count["returned to a state, and hit"] += first.hit
            if not first.hit:
                raise Unserved(f"a state came back, and {first.kind}: {first.doubts}")
        elif anywhere in self.seen and stores - self.seen[anywhere] < VERSIONS:
            self.count["same content elsewhere"] += 1
            self.count["same content elsewhere, and hit"] += first.hit
            if not first.hit:
                why = first.doubts[-1].split(":")[0] if first.doubts else "another key"
                self.count[f"same content elsewhere, miss: {why}"] += 1
        if first.known:
            self.seen[here] = self.seen[anywhere] = self.stores[request]

    @classmethod
    def proofs(cls, count, steps):
        yield from super().proofs(count, steps)
        yield (count["same content elsewhere, and hit"] or steps < 290,
               "The same content under another prefix gave hits.", [])
