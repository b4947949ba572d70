# SPDX-License-Identifier: MIT
"""Players in lock-step: one without the cache, which is the model, and two kinds with it (random_edits.py).

A unit is a list of commands of the player, as text. Commands that change files are played once, by the plain player;
all others by every player, each behind the other, and what they print must be equal. So a list of units is a case
file too, and plays as one process in differential.py.

    P   plain, one process for the whole run
    L   cached, one process for the whole run: the memory front in front of the directory
    F   cached, a fresh process for each unit: the directory alone
    V   cached, one process for the whole run: NVRTC compiles every hit too, and compares (random_calls.py)
"""
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


def verb(command):
    return command.split(None, 1)[0]


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
        self.strange = [line for line in lines if line.startswith(("verify", "look-up failed", "cannot store"))]

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
    def __init__(self, build, library, work, lenient=False, lasting="L"):
        """`work`: a private directory; @T is the directory `tree` in it, which must be there."""
        self.lenient = lenient  # edits may fail
        self.top = os.path.join(work, "tree")
        self.program = os.path.join(os.path.abspath(build), "tests", "player")
        self.library, self.work = library, work
        self.plain_environment = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_")}
        self.environment = dict(
            self.plain_environment, LD_PRELOAD=os.path.join(os.path.abspath(build), "libnvrtccache.so"),
            NVRTCCACHE_DIR=os.path.join(work, "cache"), NVRTCCACHE_LOG_LEVEL="debug")
        self.logs = {arm: os.path.join(work, f"log-{arm}") for arm in lasting + "F"}
        self.read = dict.fromkeys(lasting + "F", 0)
        self.players = {arm: self.start(arm) for arm in "P" + lasting}
        self.next_fresh = self.start("F")  # loads NVRTC while others compile

    def start(self, arm):
        environment = self.plain_environment
        if arm != "P":
            environment = dict(self.environment, NVRTCCACHE_LOG=self.logs[arm], **EXTRA.get(arm, {}))
        return Player(self.program, self.library, self.top, environment)

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
            if line.startswith(OUTCOMES):
                found.append(Outcome(arm, lines))
                lines = []
        return found

    def fresh(self):
        player, self.next_fresh = self.next_fresh, self.start("F")
        return player

    def play(self, commands, order):
        with Session(self, order) as session:
            return session.play(commands)

    def close(self):
        for player in [*self.players.values(), self.next_fresh]:
            if player.close() not in (0, -9):
                raise Died(f"a player ended with {player.process.returncode}")


class Session:
    """One unit: the cached players in this order ("LF", "FL", "LL", ...), each F a process of its own until the end."""

    def __init__(self, arms, order):
        self.arms, self.order = arms, order
        self.fresh = {place: arms.fresh() for place, arm in enumerate(order) if arm == "F"}

    def play(self, commands):
        """-> per command "compile" a list of outcomes in the session's order. Raises Difference."""
        found, runs = [], []
        for command in commands:
            files = verb(command) in FILE_VERBS
            if not runs or runs[-1][0] != files:
                runs.append((files, []))
            runs[-1][1].append(command)
        for files, run in runs:
            if files:
                self.change(run)
            else:
                found += self.compare(run)
        return found

    def change(self, commands):
        plain = self.arms.players["P"]
        plain.send(commands)
        said = plain.receive()
        if said and not self.arms.lenient:
            raise Died(f"an edit failed: {said} {commands}")

    def compare(self, commands):
        return [list(outcomes) for outcomes in zip(*self.ask(commands))]

    def ask(self, commands):
        """-> per player a list of outcomes. Raises Difference."""
        plain, got, per_arm = self.arms.players["P"], [], []
        plain.send(commands)
        for place, arm in enumerate(self.order):
            player = self.fresh.get(place) or self.arms.players[arm]
            player.send(commands)
            got.append((arm, player.receive()))
            per_arm.append(self.arms.outcomes(arm))
        self.expected = expected = plain.receive()
        for arm, said in got:
            compare(arm, expected, said)
        return per_arm

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        for player in self.fresh.values():
            if player.close() != 0 and not failure[0]:
                raise Died(f"a fresh player ended with {player.process.returncode}")


# A history as a case file: each unit behind a line "#unit ORDER LABEL".

def save(path, sentence, history):
    with open(path, "w") as file:
        file.write(f"=== {sentence}\n")
        for order, label, unit in history:
            file.write(f"#unit {order or '-'} {label}\n" + "\n".join(unit) + "\n")


def load(path):
    history, block = [], None
    with open(path) as file:
        for line in file.read().splitlines():
            if block is not None:
                block.append(line)
                if line == "END":
                    history[-1][2].append("\n".join(block))
                    block = None
            elif line.startswith("#unit "):
                _, order, label = line.split(" ", 2)
                history.append((order.replace("-", ""), label, []))
            elif line.startswith(("=== ", "#")) or not line:
                continue
            elif line.endswith("<<"):
                block = [line]
            else:
                history[-1][2].append(line)
    return history
