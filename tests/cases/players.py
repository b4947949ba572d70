# SPDX-License-Identifier: MIT
"""Players in lock-step: one without the cache, which is the model, and three kinds with it (random_tests.py).

A unit is a list of commands of the player, as text. Commands that change files are played once, by the plain player;
all others by every player, each behind the other, and what they print must be equal. So a list of units is a case
file too, and plays as one process in differential.py (what it says of hits aside).

    P   plain, one process for the whole run
    L   cached, one process for the whole run: the memory front in front of the directory
    F   cached, a fresh process for each unit: the directory alone
    V   cached, one process for the whole run: NVRTC compiles every hit too, and compares
"""
import collections
import os
import re
import select
import subprocess

FILE_VERBS = {"write", "rewrite", "append", "unlink", "mkdir", "link", "hard", "rename", "age", "touch", "settle"}
COMPILER = re.compile(r"^\w+: (?=hit |stored|not cached|bypassed)")  # whose line of the log it is
OUTCOMES = ("hit ", "stored",  "not cached", "bypassed", "cannot store")


EXTRA = {"V": {"NVRTCCACHE_VERIFY": "1"}}


class Died(Exception):
    pass


class Unserved(Exception):
    """A player gave what NVRTC gives, but not from where it was cached, or the log says that something is wrong."""


def verb(command):
    return command.split(None, 1)[0]


def compiles(command):
    words = command.split()
    return words[0] in ("compile", "compile-count") or words[:2] in (["thread", "compile"], ["child", "compile"])


class Player:
    def __init__(self, program, library, top, environment):
        self.process = subprocess.Popen([program, library, top, "-"], env=environment, cwd=top, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.rest = b""

    def send(self, commands):
        try:
            self.process.stdin.write(("\n".join(commands) + "\nmark ====\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # receive() says how it ended

    def receive(self):
        while not (self.rest == b"====\n" or self.rest.endswith(b"\n====\n")):
            ready, _, _ = select.select([self.process.stdout], [], [], 300)
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                self.process.kill()
                _, errors = self.process.communicate()
                raise Died(f"a player ended with {self.process.returncode}{'' if ready else ' (it hung)'}: "
                           f"{errors.decode(errors='replace')[-400:]} {self.rest.decode(errors='replace')[-400:]}")
            self.rest += more
        lines = self.rest.decode(errors="replace").split("\n")[:-2]
        self.rest = b""
        return lines

    def close(self):
        if self.process.returncode is None:
            self.process.communicate()
        return self.process.returncode


class Outcome:
    """What the log says of one compile of one cached player."""

    def __init__(self, arm, lines):
        self.arm = arm
        self.kind = next((line.split(", ")[0] for line in lines if line.startswith(OUTCOMES)), "nothing logged")
        self.doubts = [line.split(": ", 1)[1] for line in lines if line.startswith("entry is not valid")]

    @property
    def hit(self):
        return self.kind.startswith("hit")

    @property
    def known(self):
        """After this compile the result is in the cache."""
        return self.hit or self.kind.startswith("stored")


class Difference(Exception):
    def __init__(self, arm, lines):
        super().__init__(f"{arm} differs from NVRTC")
        self.arm, self.lines = arm, lines


def compare(arm, expected, got):
    if expected == got:
        return
    expected, got = expected + [None] * len(got), got + [None] * len(expected)
    raise Difference(arm, [line for a, b in zip(expected, got) if a != b
                           for line in (f"plain {a!r}"[:900], f"{arm}     {b!r}"[:900])][:12])


class Arms:
    def __init__(self, build, library, work):
        """`work`: a private directory; @T is the directory `tree` in it."""
        self.top = os.path.join(work, "tree")
        os.mkdir(self.top)
        self.build, self.library, self.work = os.path.abspath(build), library, work
        self.program = os.path.join(self.build, "tests", "player")
        self.plain_environment = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_")}
        self.environment = dict(
            self.plain_environment, LD_PRELOAD=os.path.join(self.build, "libnvrtccache.so"),
            NVRTCCACHE_DIR=os.path.join(work, "cache"), NVRTCCACHE_LOG_LEVEL="debug")
        self.logs = {arm: os.path.join(work, f"log-{arm}") for arm in "LFV"}
        self.read = dict.fromkeys("LFV", 0)
        self.history = []  # (order, label, unit)
        self.strange = []  # what the log must not say
        self.lengths = set()  # of process numbers
        self.players, self.next_fresh = {}, None

    def start(self, arm):
        environment = self.plain_environment
        if arm != "P":
            environment = dict(self.environment, NVRTCCACHE_LOG=self.logs[arm], **EXTRA.get(arm, {}))
        player = Player(self.program, self.library, self.top, environment)
        self.lengths.add(len(str(player.process.pid)))
        return player

    def player(self, arm):
        if arm not in self.players:
            self.players[arm] = self.start(arm)
        return self.players[arm]

    def outcomes(self, arm):
        try:
            with open(self.logs[arm], errors="replace") as file:
                file.seek(self.read[arm])
                text = file.read()
                self.read[arm] = file.tell()
        except FileNotFoundError:
            text = ""
        found, lines = [], []
        for line in text.splitlines():
            line = COMPILER.sub("", line.split(": ", 1)[-1])
            lines.append(line)
            self.strange += [line] * line.startswith(("verify", "look-up failed", "cannot store"))
            if line.startswith(OUTCOMES):
                found.append(Outcome(arm, lines))
                lines = []
        return found

    def fresh(self):
        # The next one loads NVRTC while others compile.
        player, self.next_fresh = self.next_fresh or self.start("F"), self.start("F")
        return player

    def record(self, label, order="", commands=()):
        """A new unit of the history."""
        self.history.append((order, label, list(commands)))
        return self.history[-1][2]

    def change(self, commands):
        """By the plain player: what changes files is done once."""
        plain = self.player("P")
        plain.send(commands)
        said = plain.receive()
        if said:
            raise Died(f"an edit failed: {said} {commands}")

    def forget(self, label, what):
        """Of the cache a part gets lost. A number: entries of which a fifth or so is removed. "restart": what a process
        has in memory."""
        self.record(f"{label} forget {what}")
        if what == "restart":
            if "L" in self.players:
                self.players.pop("L").close()
            return
        for directory, _, names in os.walk(os.path.join(self.work, "cache", "v1")):
            for name in names:
                if len(name) == 62 and int(name[-8:], 16) // 7 % 5 == int(what):
                    os.unlink(os.path.join(directory, name))

    def save(self, path, sentence):
        """The history as a case file: each unit behind a line "# ORDER LABEL"."""
        with open(path, "w") as file:
            file.write(f"=== {sentence}\n")
            for order, label, unit in self.history:
                file.write(f"# {order or '-'} {label}\n" + "".join(f"{command}\n" for command in unit))

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        ends = [player.close() for player in [*self.players.values(), self.next_fresh] if player]
        if any(ends) and not failure[0]:
            raise Died(f"players ended with {ends}")


class Session:
    """One unit: the cached players in this order ("LF", "FL", "LL", ...), each F a process of its own until the end."""

    def __init__(self, arms, order):
        self.arms, self.order = arms, order
        self.fresh = {place: arms.fresh() for place, arm in enumerate(order) if arm == "F"}

    def play(self, commands, ends=compiles):
        """Yields what was asked of the players, up to a command that ends a part, and of each player its outcomes."""
        part = []
        for command, following in zip(commands, [*commands[1:], None]):
            part.append(command)
            files = verb(command) in FILE_VERBS
            if following and not ends(command) and files == (verb(following) in FILE_VERBS):
                continue
            if files:
                self.arms.change(part)
            else:
                yield part, self.ask(part)
            part = []

    def ask(self, commands):
        """-> per player a list of outcomes. Raises Difference and Unserved."""
        plain, got, per_arm = self.arms.player("P"), [], []
        plain.send(commands)
        for place, arm in enumerate(self.order):
            player = self.fresh.get(place) or self.arms.player(arm)
            player.send(commands)
            got.append((arm, player.receive()))
            per_arm.append(self.arms.outcomes(arm))
        self.expected = expected = plain.receive()
        for arm, said in got:
            compare(arm, expected, said)
        for line in self.arms.strange:
            raise Unserved(line)
        return per_arm

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        for player in self.fresh.values():
            if player.close() != 0 and not failure[0]:
                raise Died(f"a fresh player ended with {player.process.returncode}")


class Play:
    """What random_tests.py plays: begin(), step() up to STEPS times, end(). All that it draws is from `rng`."""
    LIBRARIES = ("NVRTC_LIB",)
    KINDS = ["L: hit in memory", "L: hit on disk", "F: hit on disk", "L: stored", "F: stored"]

    def __init__(self, rng, arms):
        self.rng, self.arms, self.count = rng, arms, collections.Counter()

    @staticmethod
    def prepare(build, place):
        """Once for all plays. `place`: a private directory."""

    def begin(self):
        pass

    def end(self):
        pass

    @classmethod
    def proofs(cls, count, steps):
        """(whether it holds, a sentence, why not): a run in which nothing hits would prove nothing."""
        yield (all(count[kind] for kind in cls.KINDS) or steps < cls.LEAST, cls.PROOF,
               [f"{count[kind]} {kind}" for kind in cls.KINDS])
