#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random changes to a tree of headers: after each, every player must see what NVRTC without the cache gives.

usage: random_edits.py BUILD                   (TAP on standard output)
       random_edits.py BUILD --shrink HISTORY  (the least part of a saved history that still differs)

Environment: NVRTC_LIB, the library to test against; ROUNDS, how many steps (300); SECONDS_MOST, stop after so many
seconds (45 without ROUNDS); SEED (1); AVOID, words: edits that are left out, and "again": no handle is compiled
twice; ELSEWHERE=1 names the misses of the same content under another prefix. A difference is saved as
BUILD/tests/edits/SEED-STEP.case, which plays in differential.py too.
"""
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from edit_arms import Arms, Died, Difference, Session, load, save
from edit_program import SETTLE, Program
from edit_world import World

PROGRAMS = 6  # at a time
REPLANT = 150  # steps
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
ALLOWED = {"files", "time_macros", "too_new"}


class Run:
    def __init__(self, rng, arms, avoid):
        self.rng, self.arms = rng, arms
        self.world = World(rng, arms.top)
        self.world.EDITS = [(name, weight) for name, weight in World.EDITS if name not in avoid]
        self.again = "again" not in avoid
        self.history = []
        self.programs = []
        self.count = collections.Counter()
        self.wrong = []  # sentences
        self.compiled = set()  # arms that did a compile of the present handle themselves
        self.seen = {}  # state -> stores of its request until then
        self.stores = collections.Counter()
        self.dirty = True
        self.future = False
        self.elsewhere = []
        self.follow = []  # of the next steps: (edit, program, options, edits between)

    # One step.

    def record(self, order, label):
        self.history.append((order, label, []))
        return self.history[-1][2]

    def change(self, step, name=None, session=None, part=None):
        name, commands = self.world.edit(name)
        self.count[f"edit {name}"] += bool(commands)
        if not commands:
            return
        self.dirty = True
        self.future |= name == "future"
        if part is None:
            part = self.record("", f"{step} {name}")
        part += commands
        if session:
            session.play(commands)
        else:
            self.arms.play(commands, "")

    def maybe_settle(self, step, chance, session=None, part=None):
        if not self.dirty or self.rng.random() >= chance:
            return
        if part is None:
            part = self.record("", f"{step} settle")
        part.append(SETTLE)
        if session:
            session.play([SETTLE])
        else:
            self.arms.play([SETTLE], "")
        self.dirty = False

    def pick(self, step):
        if len(self.programs) < PROGRAMS:
            self.programs.append(Program(self.rng, self.world.bodies, step))
            return self.programs[-1]
        if self.rng.random() < 0.05:
            self.programs.pop(0)
        return self.rng.choice(self.programs[-3:] if self.rng.random() < 0.5 else self.programs)

    def step(self, step):
        if step % REPLANT == 0:
            self.programs.clear()
            self.follow.clear()
            commands = self.world.plant()
            self.record("", f"{step} plant").extend(commands)
            self.arms.play(commands, "")
            self.dirty, self.future = True, False
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
            between = between if self.again and self.rng.random() < 0.15 else None
        self.maybe_settle(step, 1 if followed else 0.65)
        order = self.rng.choice(ORDERS if between is None else ["LF", "FL"])
        part = self.record(order, f"{step} compile program {program.number}")
        with Session(self.arms, order) as session:
            enter = self.world.enter(program, not self.dirty)
            self.compile(session, part, program, options, enter, step, ["destroy"] if between is None else [])
            if between is not None:
                for edit in between:
                    self.change(step, edit, session, part)
                self.maybe_settle(step, 1 if followed else 0.6, session, part)
                other = program.other_options if followed or self.rng.random() < 0.7 else program.options
                self.compile(session, part, program, other, [], step, ["destroy"])
        if not followed and not self.dirty and self.rng.random() < 0.5:
            self.follow = [(edit, program, options, between) for edit, between in self.rng.choice(FOLLOWED)
                           if self.again or between is None]

    def compile(self, session, part, program, options, enter, step, leave):
        commands = enter + self.world.compile(program, options) + leave
        state = self.state(program, options, commands) if enter else None
        part += commands
        outcomes = session.play(commands)
        self.count.update(f"NVRTC: {line.strip()}" for line in session.expected if line.startswith("  compile "))
        if len(outcomes) != 1:
            self.wrong.append(f"step {step}: the log has {len(outcomes)} lines for a compile")
            return
        outcomes = outcomes[0]
        for outcome in outcomes:
            self.count[f"{outcome.arm}: {outcome.kind}"] += 1
            for doubt in outcome.doubts:
                self.count[f"not valid: {doubt.split(':')[0]}"] += 1
            for line in outcome.strange:
                self.wrong.append(f"step {step}: {line}")
        self.judge(step, state, outcomes, bool(enter))
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

    def judge(self, step, state, outcomes, first_of_handle):
        first, reason = outcomes[0], outcomes[0].kind.replace("not cached: ", "").split(" (")[0]
        if self.dirty:
            return
        self.count["settled compiles"] += 1
        if first.known:
            self.count["settled, and found by the next player"] += all(outcome.hit for outcome in outcomes[1:])
            # A handle that a player compiled for real is not served what hangs on files (interpose/compile/replay.h).
            excused = set() if first_of_handle else self.compiled
            if not all(outcome.hit or outcome.arm in excused for outcome in outcomes[1:]):
                self.wrong.append(f"step {step}: {first.arm} {first.kind}, then "
                                  f"{[(outcome.arm, outcome.kind, outcome.doubts) for outcome in outcomes[1:]]}")
        else:
            self.count[f"settled, not cached:  {reason}"] += 1
            # A hit of the same handle cannot be replayed after an edit.
            allowed = ALLOWED if first_of_handle else ALLOWED | {"history"}
            if reason not in allowed or (reason == "too_new" and not self.future):
                self.wrong.append(f"step {step}: settled, and {first.kind}")
        if not state:
            return
        here, anywhere, request = state
        stores = self.stores[request]
        if here in self.seen and stores - self.seen[here] < VERSIONS:
            self.count["returned to a state"] += 1
            self.count["returned to a state, and hit"] += first.hit
            if not first.hit:
                self.wrong.append(f"step {step}: a state came back, and {first.kind}: {first.doubts}")
        elif anywhere in self.seen and stores - self.seen[anywhere] < VERSIONS:
            self.count["same content elsewhere"] += 1
            self.count["same content elsewhere, and hit"] += first.hit
            if not first.hit:
                why = first.doubts[-1].split(":")[0] if first.doubts else "another key"
                self.count[f"same content elsewhere, miss: {why}"] += 1
                self.elsewhere.append(f"{step}: {request} {first.doubts}")
        if first.known:
            self.seen[here] = self.seen[anywhere] = self.stores[request]


class Private:
    """A directory for one run."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="nvrtccache-edits-")
        os.mkdir(os.path.join(self.path, "tree"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def replay(build, library, history):
    """The difference that a history leads to, or None."""
    with Private() as work:
        arms = Arms(build, library, work, lenient=True)
        try:
            for order, label, unit in history:
                try:
                    arms.play(unit, order)
                except Difference as difference:
                    return label, difference
        finally:
            arms.close()
    return None


def least(pieces, differs):
    """Leaves out runs of pieces, shorter and shorter, as long as what is left differs."""
    size = max(1, len(pieces) // 2)
    while True:
        at, less = 0, False
        while at < len(pieces):
            if differs(pieces[:at] + pieces[at + size:]):
                pieces, less = pieces[:at] + pieces[at + size:], True
            else:
                at += size
        print(f"# {len(pieces)} left, after runs of {size}", flush=True)
        if size == 1 and not less:
            return pieces
        size = max(1, size // 2)


def shrink(build, library, path):
    history = load(path)
    if not replay(build, library, history):
        print("the history shows no difference")
        return 1
    history = least(history, lambda less: replay(build, library, less))
    for number, (order, label, unit) in enumerate(history):
        before, after = history[:number], history[number + 1:]
        if not order:
            unit = least(unit, lambda less: replay(build, library, [*before, (order, label, less), *after]))
        history[number] = (order, label, unit)
    save(path + ".least", "Found by random edits.", history)
    label, difference = replay(build, library, history)
    print(f"{path}.least: {len(history)} units; {label}: {difference}")
    print("\n".join(difference.lines))
    return 0


class Tap:
    def __init__(self):
        self.tests, self.failed = 0, 0

    def check(self, good, text, why=()):
        self.tests, self.failed = self.tests + 1, self.failed + (not good)
        print(f"{'ok' if good else 'not ok'} {self.tests} - {text}", flush=True)
        for line in list(why)[:120]:
            print(f"# {line}")

    def end(self):
        """The exit status."""
        print(f"1..{self.tests}")
        return self.failed != 0


def report_counts(run, build):
    for name, count in sorted(run.count.items()):
        print(f"# {count:6} {name}")
    command = os.path.join(os.path.abspath(build), "nvrtccache")
    stats = subprocess.run([command, "stats", "--json"], env=run.arms.environment, capture_output=True)
    print("# " + " ".join(stats.stdout.decode().split()))


def main():
    build = sys.argv[1]
    library = os.environ.get("NVRTC_LIB")
    sentence = "After every edit, each player gives what NVRTC gives."
    if not library or not os.path.exists(library):
        print(f"ok 1 - {sentence} # SKIP no NVRTC found (NVRTC_LIB)\n1..1")
        return 0
    if sys.argv[2:3] == ["--shrink"]:
        return shrink(build, library, sys.argv[3])
    rounds, seed = int(os.environ.get("ROUNDS", 300)), int(os.environ.get("SEED", 1))
    end = time.monotonic() + float(os.environ.get("SECONDS_MOST", 1e9 if "ROUNDS" in os.environ else 45))
    tap = Tap()
    with Private() as work:
        arms = Arms(build, library, work)
        run = Run(random.Random(seed), arms, set(os.environ.get("AVOID", "").split()))
        why, step = [], 0
        try:
            for step in range(rounds):
                if time.monotonic() > end:
                    break
                run.step(step)
        except (Difference, Died) as failure:
            saved = os.path.join(build, "tests", "edits", f"{seed}-{step}.case")
            os.makedirs(os.path.dirname(saved), exist_ok=True)
            save(saved, f"Random edits, seed {seed}, step {step}.", run.history)
            why = [f"{failure}", *getattr(failure, "lines", []), f"history: {saved}", "the last steps:"]
            why += [f"{order:3} {label}" for order, label, _ in run.history if int(label.split()[0]) > step - 20]
            why += [line for command in run.history[-1][2] for line in command.splitlines()]
        finally:
            arms.close()
        print(f"# seed {seed}, {step + 1} steps")
        for line in run.elsewhere if "ELSEWHERE" in os.environ else []:
            print(f"# elsewhere {line}")
        report_counts(run, build)
        tap.check(not why, sentence, why)
        tap.check(not run.wrong,
                  "What settled files gave is found again, by the next player and when the files come back.", run.wrong)
        # A run in which nothing hits would prove nothing.
        kinds = ["L: hit in memory", "L: hit on disk", "F: hit on disk", "L: stored", "F: stored"]
        tap.check(all(run.count[kind] for kind in kinds) or step < 100,
                  "Memory and disk both gave hits, and both kinds of player stored.",
                  [f"{run.count[kind]} {kind}" for kind in kinds])
        tap.check(run.count["same content elsewhere, and hit"] or step < 290,
                  "The same content under another prefix gave hits.")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
