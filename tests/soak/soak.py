#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak: many processes on one small cache, killed and edited under, every answer of theirs checked

usage: soak.py BUILD [--seconds N] [--processes N] [--seed N] [--keys N] [--cap BYTES] [--pause-us N]
                     [--node CACHE,TREE[,...]]... [--kinds WORD,...] [--users UID,...] [--groups GID] [--environment NAME=VALUE]...
                     [--agents [--most-waited-ms N]] [--tolerance PERCENT] [--incoherent] [--no-commands] [--no-kills]
                     [--until COUNT,...]

Each worker (worker.c) compiles at random and compares what the cache gives with what the compiler gives. Meanwhile
this program kills workers at random moments, edits headers (in place, by renaming, with the old time set again), and
runs `nvrtccache stats`, `prune` and `clear`. At the end the workers are stopped and the directory is counted.

A node is a place where the same cache and the same headers are seen; the first is where this program looks. Workers of
the others see them where it says CACHE,TREE,REAL CACHE,REAL TREE: in a mount namespace of their own. Kinds of workers,
in turn: plain, disk (no memory front), verify, fsync, limited (RLIMIT_FSIZE), readonly, recache, shared.

--agents: two nodes, which see the same headers, with an agent each and a Redis, all of which die every few seconds
(agents.py). How long processes have waited for agents is printed, and the most that one of
them waited in its life for agents that did not help, as its trace says: no more than a
second in all (--most-waited-ms).
--until: goes on after the seconds until none of these counts is 0, so that a busy machine does as much.
--incoherent: nodes may see an old size of a new file, which then counts as damaged.

Prints "name value" lines; exits with 1 where any of these fails: no wrong answer, no worker died by itself, the cap
held within 25 % (--tolerance: a tenth, and a store that each process has begun), the sums agree with a count of the
files as closely (and exactly after a prune), no temporary left once it is old enough.
"""
import argparse
import json
import mmap
import os
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

from agents import Agents

SLOTS, COUNTS = 256, 8
HEADERS = 8
ENTRY = re.compile(r"[0-9a-f]{62}$")
KINDS = {
    "plain": {},
    "disk": {"NVRTCCACHE_MEM_SIZE": "0"},
    "verify": {"NVRTCCACHE_VERIFY": "1", "NVRTCCACHE_MEM_SIZE": "0"},
    "fsync": {"NVRTCCACHE_FSYNC": "1"},
    "limited": {"SOAK_FSIZE": "1500", "NVRTCCACHE_MEM_SIZE": "0"},
    "readonly": {"NVRTCCACHE_READONLY": "1", "NVRTCCACHE_MEM_SIZE": "0"},
    "recache": {"NVRTCCACHE_RECACHE": "1"},
    "shared": {"NVRTCCACHE_SHARED": "1", "NVRTCCACHE_MEM_SIZE": "0"},
}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keys", type=int, default=3000)
    parser.add_argument("--cap", type=int, default=1 << 20)
    parser.add_argument("--pause-us", type=int, default=2000)
    parser.add_argument("--node", action="append", default=[])
    parser.add_argument("--kinds", default="plain,disk,verify,disk,limited,readonly,fsync,disk")
    parser.add_argument("--users", default="")
    parser.add_argument("--groups", default="")
    parser.add_argument("--environment", action="append", default=[])
    parser.add_argument("--tolerance", type=float, default=25)
    parser.add_argument("--until", default="")
    parser.add_argument("--incoherent", action="store_true")
    parser.add_argument("--no-commands", action="store_true")
    parser.add_argument("--no-kills", action="store_true")
    parser.add_argument("--agents", action="store_true")
    parser.add_argument("--most-waited-ms", type=float, default=1000)
    return parser.parse_args()


class Soak:
    def __init__(self, options, work):
        self.options = options
        self.work = work
        self.random = random.Random(options.seed)
        self.build = os.path.abspath(options.build)
        self.nodes = [node.split(",") for node in options.node]
        if not self.nodes:
            tree = os.path.join(work, "tree", "h")
            self.nodes = [[os.path.join(work, name), tree] for name in ("cache", "cache-2")[:1 + options.agents]]
        self.users = [int(user) for user in options.users.split(",") if user]
        self.version = 0
        self.counts = dict.fromkeys(("kills", "edits", "commands", "deaths", "command_failures"), 0)
        self.workers = [None] * options.processes
        self.running = []
        self.complaints = []
        tree = self.nodes[0][1]
        os.makedirs(tree, exist_ok=True)
        for number in range(HEADERS):
            self.write_header(number)
        self.board_path = os.path.join(work, "board")
        with open(self.board_path, "wb") as board:
            board.truncate(64 + SLOTS * COUNTS * 8)
        with open(self.board_path, "r+b") as board:
            self.board = mmap.mmap(board.fileno(), 0)
        os.chmod(self.board_path, 0o666)
        self.agents = Agents(self.build, work, [node[0] for node in self.nodes], options.cap, self.random) \
            if options.agents else None

    def environment(self, slot):
        kinds = self.options.kinds.split(",")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_") and k != "LD_PRELOAD"}
        environment["NVRTCCACHE_MAX_SIZE"] = str(self.options.cap)
        environment["NVRTCCACHE_DIR"] = self.nodes[slot % len(self.nodes)][0]
        environment["SOAK_PAUSE_US"] = str(self.options.pause_us)
        if self.options.agents:
            environment["NVRTCCACHE_AGENT"] = "1"
            environment["SOAK_WAITS"] = "1"
        environment.update(KINDS[kinds[slot // len(self.nodes) % len(kinds)]])
        for pair in self.options.environment:
            name, value = pair.split("=", 1)
            environment[name] = value
        before = environment.get("LD_PRELOAD", "")
        environment["LD_PRELOAD"] = os.path.join(self.build, "libnvrtccache.so") + (":" + before if before else "")
        return environment

    def identity(self, slot):
        identity = {"user": self.users[slot % len(self.users)]} if self.users else {}
        if self.options.groups:
            identity.update(group=int(self.options.groups), extra_groups=[])
        return identity

    def start(self, slot):
        cache, tree, *real = self.nodes[slot % len(self.nodes)]
        inside = []
        if real:
            inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                      'mount --bind "$1" "$2" && mount --bind "$3" "$4" && shift 4 && exec "$@"', "sh",
                      real[0], cache, real[1], tree]
        self.workers[slot] = subprocess.Popen(
            [*inside, os.path.join(self.build, "tests/soak/worker"), os.path.join(self.build, "tests/fake/13/libnvrtc.so.13"),
             tree, self.board_path, str(slot), str(self.options.keys), "0"],
            env=self.environment(slot), stdout=subprocess.DEVNULL, cwd=self.work, **self.identity(slot))

    def write_header(self, number):
        """A new content of the old size; headers are never the same twice."""
        path = os.path.join(self.nodes[0][1], f"h{number}.h")
        self.version += 1
        text = f"// version {self.version:012d}\n"
        way = self.random.randrange(3)
        if way == 0 or not os.path.exists(path):
            with open(path, "w") as header:
                header.write(text)
            os.chmod(path, 0o644)
            return
        before = os.stat(path)
        with open(path + ".new", "w") as header:
            header.write(text)
        os.chmod(path + ".new", 0o644)
        if way == 2:
            os.utime(path + ".new", ns=(before.st_atime_ns, before.st_mtime_ns))
        os.rename(path + ".new", path)

    def command(self, *words):
        environment = self.environment(0)
        del environment["LD_PRELOAD"]
        environment.pop("NVRTCCACHE_READONLY", None)
        self.counts["commands"] += 1
        return subprocess.Popen([os.path.join(self.build, "nvrtccache"), *words], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **self.identity(0))

    def reap_commands(self, wait=False):
        for process in self.running[:]:
            if wait or process.poll() is not None:
                _, error = process.communicate()
                self.running.remove(process)
                if process.returncode != 0:
                    self.counts["command_failures"] += 1
                    self.complaints.append(f"{process.args[1:]}: {process.returncode} {error.strip()}")

    def watch_workers(self):
        for slot, worker in enumerate(self.workers):
            if worker.poll() is not None:
                self.counts["deaths"] += 1
                self.complaints.append(f"a worker ended by itself: {worker.returncode}")
                self.start(slot)

    def act(self):
        choice = self.random.randrange(100)
        if choice < 45:
            if not self.options.no_kills:
                slot = self.random.randrange(len(self.workers))
                if self.workers[slot].poll() is None:
                    self.workers[slot].kill()
                    self.workers[slot].wait()
                    self.counts["kills"] += 1
                    self.start(slot)
        elif choice < 70:
            self.write_header(self.random.randrange(HEADERS))
            self.counts["edits"] += 1
        elif choice < 85 and not self.options.no_commands and len(self.running) < 2:
            words = self.random.choice([("stats", "--json")] * 6 + [("prune",)] * 4 +
                                       [("prune", "--max-size", str(self.options.cap // 2)), ("clear",)])
            self.running.append(self.command(*words))

    def is_missing(self):
        """Whether a count of --until is still 0."""
        if not self.options.until:
            return False
        counts = {**self.counts, **(self.agents.counts if self.agents else {}), **json.loads(self.command("stats", "--json").communicate()[0])}
        return not all(counts[name] for name in self.options.until.split(","))

    def run(self):
        for slot in range(len(self.workers)):
            self.start(slot)
        end = time.monotonic() + self.options.seconds
        while (time.monotonic() < end or self.is_missing()) and not self.row_sum(3):
            time.sleep(self.random.uniform(0.005, 0.08))
            self.watch_workers()
            self.reap_commands()
            self.act()
            if self.agents:
                self.agents.act()
        self.reap_commands(wait=True)
        # the last stores: what is past the cap then was left by the killed
        time.sleep(min(1.0, self.options.seconds / 10))
        self.watch_workers()
        self.board[0:8] = struct.pack("<Q", 1)
        for worker in self.workers:
            if worker.wait(timeout=600) != 0:
                self.counts["deaths"] += 1
                self.complaints.append(f"a worker ended with {worker.returncode}")

    def row(self, column):
        return [struct.unpack_from("<Q", self.board, 64 + (slot * COUNTS + column) * 8)[0] for slot in range(SLOTS)]

    def row_sum(self, column):
        return sum(self.row(column))

    def judge_agents(self, lives):
        if not self.agents:
            return
        died, values = self.agents.end()
        self.expect(not died, f"agents ended by themselves: {died}")
        waited = self.agents.waited()
        for name, value in [*self.agents.counts.items(), ("engine_values", values)]:
            print(name, value)
        for name, value in waited.items():
            print("agent_" + name, value)
        print("agent_wait_ms_a_life", round(waited["wait_ns"] / 1e6 / max(1, lives), 1))
        worst_ms = max(self.row(5 + 1)) / 1e6
        print("agent_wait_ms_worst_life", round(worst_ms, 1))
        self.expect(0 < worst_ms <= self.options.most_waited_ms, f"a process has waited {worst_ms:.0f} ms for agents that did not help")
        self.expect(waited["found"] > 0, "the agents brought nothing")

    def census(self):
        entries = bytes_ = 0
        temporaries = []
        top = os.path.join(self.nodes[0][0], "v1")
        for shard in os.listdir(top):
            place = os.path.join(top, shard)
            if not re.match(r"[0-9a-f]{2}$", shard):
                continue
            for name in os.listdir(place):
                path = os.path.join(place, name)
                found = os.lstat(path)
                bytes_ += max(found.st_blocks * 512, found.st_size)
                if name.startswith("tmp."):
                    temporaries.append(path)
                elif ENTRY.match(name) and stat.S_ISREG(found.st_mode):
                    entries += 1
        return entries, bytes_, temporaries

    def sums(self):
        """Entries, bytes and shards without a sum, of v1/sums (cache/upkeep/sums.h)."""
        with open(os.path.join(self.nodes[0][0], "v1", "sums"), "rb") as file:
            page = file.read().ljust(16 + 16 * 256, b"\0")
        shards = [struct.unpack_from("<QII", page, 16 + 16 * i) for i in range(256)]
        return (sum(s[1] for s in shards), sum(s[0] for s in shards), sum(1 for s in shards if not s[2]))

    def expect(self, condition, text):
        if not condition:
            self.complaints.append(text)

    def judge(self):
        say = lambda name, value: print(f"{name} {value}")
        cap = self.options.cap
        compiles, same, moved, wrong, lives = (self.row_sum(column) for column in range(5))
        self.judge_agents(lives)
        stats = json.loads(self.command("stats", "--json").communicate()[0])
        if self.options.incoherent:
            time.sleep(2)  # what this node believes to be absent may be there
        entries, bytes_, temporaries = self.census()
        noted_entries, noted_bytes, unknown = self.sums()
        say("seconds", round(self.options.seconds))
        say("processes", len(self.workers))
        say("lives", lives)
        say("compiles", compiles)
        say("checked", same + wrong)
        say("undecided", moved)
        say("wrong", wrong)
        for name in ("hits_memory", "hits_disk", "misses", "stores", "evictions", "verified"):
            say(name, stats[name])
        for group in ("not_kept", "bypassed", "errors"):
            for name, value in stats[group].items():
                if value:
                    say(group + "_" + name, value)
        for name, value in self.counts.items():
            say(name, value)
        say("cap", cap)
        say("bytes", bytes_)
        say("entries", entries)
        say("account_bytes", noted_bytes)
        say("account_entries", noted_entries)
        say("account_unknown", unknown)
        say("temporaries", len(temporaries))
        self.expect(wrong == 0, f"{wrong} wrong answers")
        self.expect(same > 0 and moved < compiles / 4, "too little was checked")
        room = cap * self.options.tolerance / 100
        self.expect(bytes_ <= cap + room, f"{bytes_} bytes, past the cap of {cap}")
        self.expect(abs(noted_bytes - bytes_) <= room or unknown,
                    f"the sums say {noted_bytes} bytes, and there are {bytes_}")
        self.expect(stats["errors"]["mismatch"] == 0, "a comparison found a difference")
        self.expect(stats["errors"]["damaged"] == 0 or self.options.incoherent, "damaged entries")
        self.expect(stats["errors"]["internal"] == 0, "internal errors")
        self.judge_prune(temporaries, say)

    def judge_prune(self, temporaries, say):
        for path in temporaries:
            old = time.time() - 2 * 3600
            os.utime(path, (old, old))
        pruned = self.command("prune")
        text, error = pruned.communicate()
        self.expect(pruned.returncode == 0, "prune: " + error)
        entries, bytes_, left = self.census()
        noted = self.sums()
        say("temporaries_after_sweep", len(left))
        say("account_difference_after_prune", abs(noted[1] - bytes_) + abs(noted[0] - entries))
        self.expect(not left, f"{len(left)} temporaries are left")
        self.expect(noted == (entries, bytes_, 0), f"the sums say {noted}, there are {entries} and {bytes_}")
        self.expect(bytes_ <= self.options.cap, "past the cap after a prune")


def main():
    options = arguments()
    work = tempfile.mkdtemp(prefix="nvrtccache-soak.")
    os.chmod(work, 0o711)
    soak = Soak(options, work)
    try:
        soak.run()
        soak.judge()
        for name in os.listdir(os.path.join(work, "tree")) if not options.node else []:
            if name.startswith("wrong."):
                print(open(os.path.join(work, "tree", name)).read()[:4000], file=sys.stderr)
    finally:
        if soak.agents:
            soak.agents.close()
        for worker in soak.workers:
            if worker and worker.poll() is None:
                worker.send_signal(signal.SIGKILL)
                worker.wait()
        shutil.rmtree(work, ignore_errors=True)
    for complaint in soak.complaints[:20]:
        print("FAILED:", complaint)
    return 1 if soak.complaints else 0


sys.exit(main())
