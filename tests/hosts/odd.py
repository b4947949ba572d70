#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hosts under random conditions, on random states of the cache directory: without the cache, then with it.

usage: odd.py BUILD [--rounds N] [--seed N] [--seconds N]

Each round is made of one number: conditions of the process (umask, limits, descriptors, signals, user), a state of the
cache directory (links, hard links, pipes, foreign owners, other modes, files of others in the places of ours, a full or
a read-only file system), what the host does, and then what a person does with the command. What the host prints and how
it ends must be the same without the cache; what belongs to somebody else must be as it was, to the byte and the
nanosecond; the process's state must be as before each compile; no descriptor may be left. A round that fails is named
by its number, and --seed N --rounds 1 plays it again.
"""
import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NOBODY, MEMBER = 65533, 12345
DIGITS = "0123456789abcdef"
arguments = argparse.ArgumentParser()
arguments.add_argument("build")
arguments.add_argument("--rounds", type=int, default=1000000)
arguments.add_argument("--seed", type=int, default=1)
arguments.add_argument("--seconds", type=float, default=0)
given = arguments.parse_args()
build = os.path.abspath(given.build)
library = os.path.join(build, "libnvrtccache.so")
command = os.path.join(build, "nvrtccache")
host = os.path.join(build, "tests/hosts/odd")
compiler = os.path.join(build, "tests/fake/13/libnvrtc.so.13")
is_root = os.geteuid() == 0
plain = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_") and k != "LD_PRELOAD"}


def names_of_ours(choose):
    key = "".join(choose.choice(DIGITS) for _ in range(62))
    return ["lock", "compile-lock", "sums", key, f"tmp.{choose.randrange(1, 99999)}.{key[:16]}"] + [f"0{d}" for d in DIGITS]


def snapshot(top):
    """Everything below: names, kinds, owners, modes, times, contents."""
    found = {}
    for where, directories, files in os.walk(top):
        for name in directories + files + ["."]:
            path = os.path.join(where, name)
            status = os.lstat(path)
            content = ""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = hashlib.sha1(file.read()).hexdigest()
            found[os.path.relpath(path, top)] = (status.st_mode, status.st_uid, status.st_gid, status.st_size,
                                                 status.st_mtime_ns, content)
    return found


def alike(expected, got):
    """A real compile may leave an errno; a hit need not."""
    left, right = expected.splitlines(), got.splitlines()
    return len(left) == len(right) and all(b in (a, a.removesuffix(" errno")) for a, b in zip(left, right))


class Round:
    def __init__(self, number, top):
        self.number, self.top = number, top
        self.choose = random.Random(number)
        self.cache, self.private = os.path.join(top, "cache"), os.path.join(top, "private")
        self.user = NOBODY if is_root and self.choose.random() < 0.6 else os.geteuid()
        self.shared = self.choose.random() < 0.5
        self.words, self.said, self.mounted = [], [], False

    def say(self, text):
        self.said.append(text)

    def own(self, path, user=None, group=None):
        if is_root:
            os.chown(path, self.user if user is None else user, self.user if group is None else group,
                     follow_symlinks=False)

    def write(self, path, content, user=None, mode=0o600):
        with open(path, "wb") as file:
            file.write(content)
        self.own(path, user)
        os.chmod(path, mode)

    def make_private(self):
        """What is the user's own and has nothing to do with us, under names that ours have too."""
        os.mkdir(self.private, 0o700)
        for directory in ("", "stats", "ab", "6b"):
            place = os.path.join(self.private, directory)
            os.makedirs(place, exist_ok=True)
            for name in names_of_ours(self.choose):
                self.write(os.path.join(place, name), self.choose.choice([b"", b"My thesis, chapter one.\n"]))
            self.own(place)
        for where in [self.private] + [os.path.join(self.private, d) for d in ("stats", "ab", "6b")]:
            os.utime(where, ns=(10**18, 10**18))

    def environment(self, preload=True):
        made = dict(plain, NVRTCCACHE_DIR=self.cache, NVRTCCACHE_WAIT="2")
        if self.shared:
            made["NVRTCCACHE_SHARED"] = "1"
        if preload:
            made["LD_PRELOAD"] = library
        return made

    def run_host(self, words, preload, more=None):
        """What it said and how it ended."""
        read, write = os.pipe()
        made = self.environment(preload) if preload else dict(plain)
        made.update(more or {})
        process = subprocess.Popen([host, str(write), compiler, *words], pass_fds=[write], env=made, cwd=self.top,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        os.close(write)
        try:
            output, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            output += b"took more than a minute"
        with os.fdopen(read, "rb") as report:
            return report.read().decode(), output.decode(errors="replace"), process.returncode

    def warm(self):
        words = [f"user={self.user}"] if is_root and self.user else []
        self.run_host(words + ["load", "compile=1", "compile=2", "compile=7"], True)

    def places(self):
        found = [self.cache]
        for where, directories, files in os.walk(self.cache):
            found += [os.path.join(where, name) for name in directories + files]
        return found

    def spoil(self):
        """One thing in the cache directory is not as we left it."""
        v1 = os.path.join(self.cache, "v1")
        kind = self.choose.choice(["link", "link", "hard", "hard", "pipe", "mode", "owner", "foreign", "content", "directory"])
        where = self.choose.choice([v1, os.path.join(v1, "stats"), *self.places(), os.path.join(v1, "lock"),
                                    os.path.join(v1, "compile-lock"), os.path.join(v1, "sums"),
                                    *[os.path.join(v1, "stats", "0" + d) for d in DIGITS]])
        if where == self.cache and kind not in ("mode", "owner"):
            where = v1
        self.say(f"{kind} {os.path.relpath(where, self.cache)}")
        is_directory = os.path.isdir(where) and not os.path.islink(where)
        if kind in ("link", "hard", "pipe", "foreign", "directory"):
            if is_directory and kind != "hard":
                shutil.rmtree(where)
            elif os.path.lexists(where) and not is_directory:
                os.unlink(where)
            if not os.path.isdir(os.path.dirname(where)):
                return
        if kind == "link":
            target = self.private if is_directory else os.path.join(self.private, os.path.basename(where))
            os.symlink(target, where)
            self.own(where, MEMBER)
        elif kind == "hard" and not is_directory:
            target = os.path.join(self.private, self.choose.choice(os.listdir(self.private)))
            if os.path.isfile(target):
                os.link(target, where)
        elif kind == "pipe":
            os.mkfifo(where, 0o600)
            self.own(where)
        elif kind == "foreign":
            self.write(where, b"My thesis, chapter one.\n")
            # what stands under the name of a key is a damaged result of it, and is replaced by the next
            if len(os.path.basename(where)) != 62:
                self.foreign.append(where)
        elif kind == "directory":
            os.mkdir(where, 0o700)
            self.own(where)
        elif kind == "mode" and os.path.lexists(where) and not os.path.islink(where):
            os.chmod(where, self.choose.choice([0, 0o400, 0o500, 0o700, 0o755, 0o777, 0o2770, 0o1777, 0o666, 0o444]))
        elif kind == "owner" and os.path.lexists(where) and is_root:
            os.chown(where, self.choose.choice([0, NOBODY, MEMBER]), self.choose.choice([0, NOBODY, MEMBER]),
                     follow_symlinks=False)
        elif kind == "content" and os.path.isfile(where) and not os.path.islink(where):
            with open(where, "r+b") as file:
                size = os.path.getsize(where)
                file.truncate(self.choose.choice([0, 1, size // 2, size]))
                file.seek(self.choose.randrange(8, size + 9))
                file.write(b"x")

    def lay_out(self):
        self.foreign = []
        state = self.choose.choice(["none", "none", "warm", "warm", "warm", "full", "read-only"])
        self.say(state)
        if state == "none":
            return
        os.mkdir(self.cache, 0o2770 if self.shared else 0o700)
        self.own(self.cache)
        os.chmod(self.cache, 0o2770 if self.shared else 0o700)
        if state in ("full", "read-only"):
            size = self.choose.choice([4, 8, 12, 16, 24, 40, 64]) if state == "full" else 1024
            options = f"size={size}k,uid={self.user},gid={self.user},mode={'2770' if self.shared else '0700'}"
            self.mounted = is_root and subprocess.run(["mount", "-t", "tmpfs", "-o", options, "odd", self.cache],
                                                      capture_output=True).returncode == 0
        if state != "full" or not self.mounted:
            self.warm()
        if state == "read-only" and self.mounted:
            subprocess.run(["mount", "-o", "remount,ro", self.cache], capture_output=True)
            return
        for _ in range(self.choose.choice([0, 1, 1, 2, 4])):
            try:
                self.spoil()
            except OSError as error:  # a full file system; a link into another
                self.say(f"in vain: {error.strerror}")

    def conditions(self):
        choose, words = self.choose, []
        if choose.random() < 0.5:
            words.append(f"umask={choose.choice(['000', '002', '022', '077', '0777', '027', '0277'])}")
        if choose.random() < 0.4:
            words.append(f"fsize={choose.choice([0, 0, 1, 100, 198, 199, 500, 1000, 4096, 33000, choose.randrange(70000)])}")
        if choose.random() < 0.2:
            words.append(f"core={choose.choice([0, 1000000])}")
        if choose.random() < 0.1:
            words.append("as=256")
        words += [f"close={fd}" for fd in (0, 1, 2) if choose.random() < 0.2]
        if choose.random() < 0.2:
            words.append(f"block={choose.choice([signal.SIGXFSZ, signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD])}")
        if choose.random() < 0.2:
            words.append(f"ignore={choose.choice([signal.SIGXFSZ, signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD])}")
        if choose.random() < 0.2:
            words.append("beyond")
        if is_root and self.user:
            words.append(f"user={self.user}")
        words.append("load")
        low = choose.random() < 0.3
        if low:
            words.append(f"nofile={choose.choice([12, 16, 20, 24, 32, 64, 256, 300])}")
        if choose.random() < 0.2:
            words.append(f"open={choose.choice([1, 5, 3 if low else 300])}")
        words.append(f"errno={choose.choice([0, 2, 17])}")
        return words

    def deeds(self):
        choose, words = self.choose, []
        for _ in range(choose.randrange(1, 6)):
            words.append(choose.choice(["compile=1", "compile=2", "compile=3", "compile=7", "burst=20", "compile=4"]))
            if choose.random() < 0.1:
                words.append("fork")
            if choose.random() < 0.1:
                words.append("unlimit")
        words += choose.choice([[], [], [], ["exit=3"], ["_exit=4"], ["term"], ["kill"]])
        return words

    def command(self):
        """A person, as the same user."""
        words = self.choose.choice([None, ["clear"], ["prune"], ["prune", "--max-size", "1K"], ["stats"], ["stats", "--zero"],
                                    ["export", "-o", os.path.join(self.top, "out/bundle")]])
        if words is None:
            return
        self.say("nvrtccache " + words[0])
        try:
            done = subprocess.run([command, *words], env=self.environment(False), capture_output=True, timeout=60,
                                  user=self.user if is_root else None, group=self.user if is_root else None,
                                  extra_groups=[] if is_root else None)
        except subprocess.TimeoutExpired:
            self.fail("the command took more than a minute")
            return
        if done.returncode < 0:
            self.fail(f"the command died of signal {-done.returncode}")

    def fail(self, why):
        self.failures.append(why)

    def play(self):
        self.failures = []
        os.chmod(self.top, 0o755)
        os.mkdir(os.path.join(self.top, "out"), 0o777)
        os.chmod(os.path.join(self.top, "out"), 0o777)
        self.own(self.top)
        self.make_private()
        self.lay_out()
        words = self.conditions() + self.deeds()
        more = {}
        if self.choose.random() < 0.2:
            more["NVRTCCACHE_TRACE"] = os.path.join(self.top, "out/trace.json")
        if self.choose.random() < 0.2:
            more.update(NVRTCCACHE_LOG=os.path.join(self.top, "out/log"), NVRTCCACHE_LOG_LEVEL="4")
        if self.choose.random() < 0.1:
            more["NVRTCCACHE_DISABLE"] = "1"
        before = snapshot(self.private)
        theirs = {path: open(path, "rb").read() for path in self.foreign if os.path.isfile(path)}
        expected = self.run_host(words, False)
        for which in ("first", "second"):
            got = self.run_host(words, True, more)
            if not alike(expected[0], got[0]) or got[2] != expected[2]:
                self.fail(f"the {which} run differs: expected {expected[2]} {expected[0]!r}, got {got[2]} {got[0]!r} {got[1]!r}")
        self.command()
        after = snapshot(self.private)
        for path in sorted(set(before) | set(after)):
            if before.get(path) != after.get(path):
                self.fail(f"private/{path} was {before.get(path)} and is {after.get(path)}")
        for path, content in theirs.items():
            if not os.path.isfile(path) or open(path, "rb").read() != content:
                self.fail(f"{os.path.relpath(path, self.top)} was somebody's and is no more what it was")
        if self.failures:
            print(f"not as without us: seed {self.number}: {'; '.join(self.said)}; odd {' '.join(words)}; {more}")
            for why in self.failures[:4]:
                print(f"    {why}"[:600])
            sys.stdout.flush()
        return not self.failures

    def take_down(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.cache], capture_output=True)
        subprocess.run(["chmod", "-R", "u+rwX", self.top], capture_output=True)
        shutil.rmtree(self.top, ignore_errors=True)


start, played, failed = time.monotonic(), 0, 0
for number in range(given.seed, given.seed + given.rounds):
    if given.seconds and time.monotonic() - start > given.seconds:
        break
    one = Round(number, tempfile.mkdtemp(prefix="nvrtccache-odd-"))
    try:
        failed += not one.play()
    finally:
        one.take_down()
    played += 1
print(f"{played} hosts under odd conditions, seeds {given.seed} to {given.seed + played - 1}: {failed} not as without us")
sys.exit(failed != 0)
