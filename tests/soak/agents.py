# SPDX-License-Identifier: MIT
"""agents: an agent for each node of a soak, and an engine, all of which die every few seconds

The engine is killed and comes back empty; an agent is killed and started anew, or stopped for a moment. act() is called
often; it does what is due, and never waits. end() brings all of it back and ends it in order.

Errors: EngineError where redis-server does not start. Threads: one.
"""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fleet"))
from engine import Redis  # noqa: E402

COUNTERS = ("asked", "found", "absent", "down", "timeouts", "skipped")


class Agents:
    def __init__(self, build, work, caches, cap, random):
        self.build, self.caches, self.cap, self.random = build, caches, cap, random
        self.work = work
        self.redis = Redis(os.path.join(work, "redis"))
        self.counts = dict.fromkeys(("engine_deaths", "agent_deaths", "agent_stops"), 0)
        self.keys = os.path.join(work, "keys")
        with open(os.open(self.keys, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write("soak " + random.randbytes(32).hex() + "\n")
        self.agents = [self._start(cache) for cache in caches]
        self.due = []  # (when, what)
        self._later(1, 4, self._act)

    def environment(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_") and k != "LD_PRELOAD"}
        return {**environment, "NVRTCCACHE_MAX_SIZE": str(self.cap)}

    def _start(self, cache):
        with open(os.path.join(self.work, "agents.log"), "ab") as log:
            return subprocess.Popen([os.path.join(self.build, "nvrtccache-agent"), "--engine", self.redis.address, "--dir",
                                     cache, "--key-file", self.keys, "--write"], stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=log, env=self.environment())

    def _later(self, least, most, what):
        self.due.append((time.monotonic() + self.random.uniform(least, most), what))

    def act(self):
        now = time.monotonic()
        for item in [item for item in self.due if item[0] <= now]:
            self.due.remove(item)
            item[1]()

    def _act(self):
        """The engine is the first that dies."""
        which = self.random.randrange(len(self.agents))
        choice = self.random.randrange(4)
        if choice < 2 or self.counts["engine_deaths"] == 0:
            self.counts["engine_deaths"] += 1
            self.redis.kill()
            self._later(0.2, 2, self.redis.start)
        elif choice == 2:
            self.counts["agent_deaths"] += 1
            self.agents[which].kill()
            self.agents[which].wait()
            self._later(0.1, 1, lambda: self._again(which))
        else:
            self.counts["agent_stops"] += 1
            self.agents[which].send_signal(signal.SIGSTOP)
            self._later(0.2, 2, lambda: self.agents[which].send_signal(signal.SIGCONT))
        self._later(2, 4, self._act)

    def _again(self, which):
        self.agents[which] = self._start(self.caches[which])

    def end(self):
        """What was to come back does; agents that end by themselves are told of, by their exit status."""
        for _, what in self.due:
            if what != self._act:
                what()
        self.due = []
        died = [agent.returncode for agent in self.agents if agent.poll() is not None]
        for agent in self.agents:
            agent.terminate()
        died += [agent.returncode for agent in self.agents if agent.wait(timeout=60) not in (0, -signal.SIGTERM)]
        values = len(self.redis.values())
        self.redis.close()
        return died, values

    def close(self):
        for agent in self.agents:
            if agent.poll() is None:
                agent.kill()
                agent.wait()
        self.redis.close()

    def waited(self):
        """What the processes' counters say, of all directories."""
        total = dict.fromkeys([*COUNTERS, "wait_ns"], 0)
        for cache in self.caches:
            said = json.loads(subprocess.run([os.path.join(self.build, "nvrtccache"), "stats", "--json"], check=True,
                                             capture_output=True, env={**self.environment(), "NVRTCCACHE_DIR": cache}).stdout)
            for name in total:
                total[name] += said["agent_" + name]
        return total
