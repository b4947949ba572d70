#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random sequences of calls of NVRTC: every player must see what NVRTC without the cache gives.

usage: random_calls.py BUILD                   (TAP on standard output)
       random_calls.py BUILD --shrink HISTORY  (the least part of a saved history that still differs)

Sequences (call_world.py, call_life.py) begin as others did and go another way, in one process and in fresh ones, over
one cache that loses some of its results now and then; edit_arms.py tells of the players. Environment: NVRTC_LIB, the
library to test against; ROUNDS, how many sequences (200); SECONDS_MOST, stop after so many seconds (40 without ROUNDS);
SEED (1). A difference is saved as BUILD/tests/calls/SEED-ROUND.case, which plays in differential.py too (what it says
of hits aside), and so does what --shrink leaves of it.
"""
import collections
import ctypes
import os
import random
import sys
import time

from call_life import DIRECTORIES, SETTLE, plant
from call_world import World
from edit_arms import FILE_VERBS, Arms, Died, Difference, Session, load, save, verb
from random_edits import Private, Tap, least, report_counts

ROUNDS_OF_A_WORLD = 16
# Players are in step over the commands of a sequence, so none is there twice but fresh ones.
ORDERS = ["LF", "LF", "LF", "LF", "FL", "FL", "FL", "FL", "FLF", "FF", "LV", "FV"]


def compiles(command):
    words = command.split()
    return words[0] in ("compile", "compile-count") or words[:2] in (["thread", "compile"], ["child", "compile"])


class Forgetful(Arms):
    """A cache of which parts get lost."""

    def __init__(self, build, library, work, lenient=False):
        super().__init__(build, library, work, lenient, "LV")

    def forget(self, what):
        """A number: entries of which a third or so is removed. "restart": what a process has in memory goes."""
        if what == "restart":
            self.players["L"].close()
            self.players["L"] = self.start("L")
            return
        for directory, _, names in os.walk(os.path.join(self.work, "cache", "v1")):
            for name in names:
                if len(name) == 62 and int(name[-8:], 16) // 7 % 5 == int(what):
                    os.unlink(os.path.join(directory, name))


def play(arms, order, commands, seen=None):
    """One sequence. seen(number of the slot, command, per player the outcome or None) for every compile."""
    slot, run = 0, []
    with Session(arms, order) as session:
        for number, command in enumerate(commands):
            run.append(command)
            words = command.split()
            if words[0] in ("use", "create") and len(words) > 1:
                slot = int(words[1])
            following = verb(commands[number + 1]) if number + 1 < len(commands) else ""
            if not compiles(command) and following and (verb(command) in FILE_VERBS) == (following in FILE_VERBS):
                continue
            if verb(command) in FILE_VERBS:
                session.change(run)
            else:
                outcomes = [found[-1] if found else None for found in session.ask(run)]
                if seen and compiles(command):
                    seen(slot, command, outcomes, session.expected)
            run = []


class Run:
    def __init__(self, rng, arms, release):
        self.rng, self.arms, self.release = rng, arms, release
        self.history, self.files = [], {}
        self.world = None
        self.count = collections.Counter()
        self.wrong = []  # sentences
        self.lost = False  # some of what a process has in memory is not in the directory
        self.lengths = set()  # of process numbers

    def record(self, order, label, commands):
        self.history.append((order, label, commands))
        return commands

    def forget(self, number):
        part = str(self.rng.randrange(5))
        for what in self.rng.choice([["restart"], [part], [part, "restart"]]):
            self.record("", f"{number} forget {what}", [])
            self.arms.forget(what)
            self.lost = what != "restart"
            self.count[f"forgot: {'memory' if what == 'restart' else 'results'}"] += 1

    def same_lengths(self):
        for player in [*self.arms.players.values(), self.arms.next_fresh]:
            self.lengths.add(len(str(player.process.pid)))
        return len(self.lengths) == 1

    def round(self, number):
        if number == 0:
            self.arms.play(self.record("", "0 plant", [f"mkdir {directory}" for directory in DIRECTORIES]), "")
        if number % ROUNDS_OF_A_WORLD == 0:
            self.world = World(self.rng, number // ROUNDS_OF_A_WORLD, self.release)
        if self.rng.random() < 0.12:
            self.forget(number)
        how, calls, life = self.world.sequence()
        # NVRTC's module ids have the process's number in them, and sizes its digits.
        if "alone" in life.kinds and not self.same_lengths():
            self.count["left out: processes with longer numbers"] += 1
            return
        changes = plant(self.files, self.world.files)
        if changes:
            self.arms.play(self.record("", f"{number} plant", changes), "")
        self.files = dict(life.files)
        order = self.rng.choice(ORDERS)
        commands = [f"chdir {self.world.cwd}", *life.commands, *life.end()]
        # of several changes in a row the last one settles all
        commands = [command for command, following in zip(commands, [*commands[1:], "use"])
                    if command != SETTLE or verb(following) not in FILE_VERBS]
        self.record(order, f"{number} {how}", commands)
        self.count[f"sequence: {how}"] += 1
        self.count.update(f"call: {call[0]}" for call in calls)
        self.tell = {"number": number, "order": order, "real": collections.defaultdict(set),
                     "hit": collections.defaultdict(set)}
        play(self.arms, order, commands, self.seen)

    def seen(self, slot, command, outcomes, expected):
        """Counts, and looks whether what one player kept is served to the next."""
        order, real, hit = (self.tell[word] for word in ("order", "real", "hit"))
        code = next((line.split()[1] for line in expected if line.startswith("  compile ")), "none")
        self.count[f"NVRTC: compile {code}"] += 1
        for place, (arm, outcome) in enumerate(zip(order, outcomes)):
            kind = outcome.kind if outcome else "compared, or cancelled"
            self.count[f"{arm}: {kind}"] += 1
            self.count["results that did not hold"] += len(outcome.doubts) if outcome else 0
            self.wrong += [f"round {self.tell['number']}: {line}" for line in (outcome.strange if outcome else [])]
            first = outcomes[0]
            # A handle that a player compiled for real is not served what hangs on files (interpose/compile/replay.h).
            if place and arm != "V" and first and first.known and not outcome_hit(outcome) and not real[place, slot] \
                    and not (first.kind == "hit in memory" and self.lost):
                self.wrong.append(f"round {self.tell['number']}, {command}: {order[0]} {first.kind}, then {arm} "
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


def end(arms):
    """What is wrong with how the players end."""
    try:
        arms.close()
    except Died as death:
        return [f"{death}"]
    return []


def replay(build, library, history):
    """The difference that a history leads to, or None."""
    with Private() as work:
        arms = Forgetful(build, library, work, lenient=True)
        try:
            for order, label, unit in history:
                words = label.split()
                if words[1] == "forget":
                    arms.forget(words[2])
                elif order:
                    play(arms, order, unit)
                else:
                    arms.play(unit, "")
        except Difference as difference:
            return label, difference
        except Died as death:
            # without us too, where what is left is no host's doing
            return None if arms.players["P"].process.poll() is not None else (label, death)
        finally:
            end(arms)
    return None


def kind_of(found):
    """What differs: shrinking must not go over to another difference, like one of a host that makes no sense."""
    _, difference = found
    lines = getattr(difference, "lines", [])
    return type(difference), lines[0].split()[:3] if lines else []


def shrink(build, library, path):
    history = load(path)
    begin = next((at for at in range(len(history) - 1, 0, -1)
                  if int(history[at][1].split()[0]) % ROUNDS_OF_A_WORLD == 0), 0)
    late = [unit for unit in history[:begin] if unit[1] == "0 plant"] + history[begin:]
    found = replay(build, library, late)
    if found:
        history = late
    else:
        found = replay(build, library, history)
    if not found:
        print("the history shows no difference")
        return 1
    print("\n".join(getattr(found[1], "lines", [])), flush=True)

    def differs(less):
        other = replay(build, library, less)
        return other is not None and kind_of(other) == kind_of(found)

    history = least(history, differs)
    for number, (order, label, unit) in enumerate(history):
        before, after = history[:number], history[number + 1:]
        if unit:
            unit = least(unit, lambda less: differs([*before, (order, label, less), *after]))
        history[number] = (order, label, unit)
    least_path = f"{path.removesuffix('.case')}.least.case"
    save(least_path, "Found by random calls.", history)
    print(f"{least_path}: {len(history)} sequences")
    return 0


def release_of(library):
    handle = ctypes.CDLL(library)
    major, minor = ctypes.c_int(), ctypes.c_int()
    handle.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def main():
    build = sys.argv[1]
    library = os.environ.get("NVRTC_LIB")
    sentence = "In every sequence of calls, each player gives what NVRTC gives."
    if not library or not os.path.exists(library):
        print(f"ok 1 - {sentence} # SKIP no NVRTC found (NVRTC_LIB)\n1..1")
        return 0
    # where there is a driver, NVRTC's own cache would be warm in some players only
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    if sys.argv[2:3] == ["--shrink"]:
        return shrink(build, library, sys.argv[3])
    rounds, seed = int(os.environ.get("ROUNDS", 200)), int(os.environ.get("SEED", 1))
    stop = time.monotonic() + float(os.environ.get("SECONDS_MOST", 1e9 if "ROUNDS" in os.environ else 40))
    tap = Tap()
    with Private() as work:
        arms = Forgetful(build, library, work)
        run = Run(random.Random(seed), arms, release_of(library))
        why, number = [], 0
        try:
            for number in range(rounds):
                if time.monotonic() > stop:
                    break
                run.round(number)
        except (Difference, Died) as failure:
            saved = os.path.join(build, "tests", "calls", f"{seed}-{number}.case")
            os.makedirs(os.path.dirname(saved), exist_ok=True)
            save(saved, f"Random calls, seed {seed}, round {number}.", run.history)
            why = [f"{failure}", *getattr(failure, "lines", []), f"history: {saved}", "the last sequence:"]
            why += [line for command in run.history[-1][2] for line in command.splitlines()]
        why += end(arms)
        print(f"# seed {seed}, {number + 1} sequences")
        report_counts(run, build)
        tap.check(not why, sentence, why)
        tap.check(not run.wrong, "What one player kept, the next is served.", run.wrong)
        # A run in which nothing hits would prove nothing.
        kinds = ["L: hit in memory", "L: hit on disk", "F: hit on disk", "L: stored", "F: stored",
                 "L: a compile after hits of the handle", "F: a compile after hits of the handle"]
        tap.check(all(run.count[kind] for kind in kinds) or number < 60,
                  "Memory and disk both gave hits, and handles that were served were compiled.",
                  [f"{run.count[kind]} {kind}" for kind in kinds])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
