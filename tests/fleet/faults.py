# SPDX-License-Identifier: MIT
"""faults: what may be wrong with an engine and with an agent, and what a host has of it

FAULTS is a table: a name, and a context manager that takes a World, arranges the fault and gives the node where the host
is to run, and the NVRTCCACHE_AGENT of it (None: the node's own). measure() runs a host there and one without us.

Errors: what cannot be arranged here raises Impossible with the reason.
"""
import contextlib
import os
import signal
import statistics
import subprocess
import sys

import values
from engine import Proxy

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRANGER = 65533
FAULTS = []


class Impossible(Exception):
    pass


class World:
    """A fleet, an engine that has every result of its workload, and what a host without us gets."""

    def __init__(self, fleet, redis):
        self.fleet, self.redis = fleet, redis
        self.keys = values.read_keys(fleet.keys)
        first = fleet.node()
        self.plain = first.compile(cached=False)
        first.start_agent(redis.address)
        self.cold = first.compile()
        fleet.forget([first])
        self.values = redis.values()
        if len(self.values) != fleet.workload.kernels or not self.cold.same(self.plain):
            raise RuntimeError(f"the engine has {len(self.values)} of {fleet.workload.kernels} results; the first node's host "
                               + ("was right" if self.cold.same(self.plain) else "was wrong"))

    def put(self, those):
        self.redis.command("FLUSHALL")
        for name, value in those.items():
            self.redis.command("SET", name, value)


def fault(name):
    def keep(function):
        FAULTS.append((name, contextlib.contextmanager(function)))
        return function
    return keep


@fault("nothing (the engine is warm)")
def none(world):
    node = world.fleet.node()
    node.start_agent(world.redis.address)
    yield node, None


@fault("engine: nobody there")
def down(world):
    node = world.fleet.node()
    node.start_agent("redis+unix://" + os.path.join(world.fleet.place, "nowhere"))
    yield node, None


@fault("engine: stopped")
def stopped(world):
    node = world.fleet.node()
    node.start_agent(world.redis.address)
    world.redis.halt()
    try:
        yield node, None
    finally:
        world.redis.go_on()


@fault("engine: each answer takes 1 s")
def slow(world):
    node = world.fleet.node()
    proxy = Proxy(world.fleet.place, world.redis.socket, latency_s=1)
    try:
        node.start_agent(proxy.address)
        yield node, None
    finally:
        proxy.close()


@fault("engine: full")
def full(world):
    world.redis.command("FLUSHALL")
    world.redis.command("CONFIG", "SET", "maxmemory", "1")
    world.redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
    node = world.fleet.node()
    try:
        node.start_agent(world.redis.address)
        yield node, None
        node.end_agent()
        node.agent.wait()
    finally:
        world.redis.command("CONFIG", "SET", "maxmemory", "0")
        world.put(world.values)


@fault("engine: wrong password")
def password(world):
    secret = os.path.join(world.fleet.place, "wrong-password")
    with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write("wrong\n")
    world.redis.command("ACL", "SETUSER", "writer", "on", ">right", "~*", "+@all")
    node = world.fleet.node()
    try:
        node.start_agent(world.redis.address, "--user", "writer", "--password-file", secret)
        yield node, None
    finally:
        world.redis.command("ACL", "DELUSER", "writer")


def bounded(pid):
    """No value makes an agent take much memory."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    if peak > 256 * 1024:
        raise RuntimeError(f"the agent took {peak} KB")


def lying(lie):
    def arrange(world):
        world.put(lie(world.values, world.keys))
        node = world.fleet.node()
        try:
            # it only reads: one that writes mends what is damaged, between this host's kernels
            node.start_agent(world.redis.address, write=False)
            yield node, None
            bounded(node.agent.pid)
        finally:
            world.put(world.values)
    return arrange


for what, lie in values.LIES.items():
    fault("value: " + what)(lying(lie))


@fault("agent: dead, its socket is left")
def dead(world):
    node = world.fleet.node()
    node.start_agent(world.redis.address)
    node.agent.kill()
    node.agent.wait()
    yield node, None


@fault("agent: stopped")
def agent_stopped(world):
    node = world.fleet.node()
    node.start_agent(world.redis.address)
    node.agent.send_signal(signal.SIGSTOP)
    try:
        yield node, None
    finally:
        node.agent.send_signal(signal.SIGCONT)


def actor(behaviour, *options):
    """The agent is played by tests/hosts/agent.py, on a socket of its own."""
    def arrange(world):
        if "--user" in options and os.getuid() != 0:
            raise Impossible("takes root")
        node = world.fleet.node()
        place = os.path.join(node.place, "agent")
        os.mkdir(place)
        if "--user" in options:
            # he can reach it, and his socket is where we were told to look
            os.chown(place, STRANGER, -1)
            for directory in (world.fleet.place, os.path.dirname(node.place), node.place):
                os.chmod(directory, 0o755)
        path = os.path.join(place, "socket")
        played = world.fleet.start([sys.executable, os.path.join(REPO, "tests/hosts/agent.py"), path, behaviour, *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            if played.stdout.readline().strip() != "ready":
                raise Impossible("tests/hosts/agent.py does not play")
            yield node, path
        finally:
            played.kill()
            played.wait()
            played.stdout.close()
            world.fleet.processes.remove(played)
    return arrange


fault("agent: accepts, and says nothing")(actor("mute"))
fault("agent: starts, and never ends")(actor("hung"))
fault("agent: another user's")(actor("empty", "--user", str(STRANGER)))


class Measured:
    def __init__(self, result, plain, counters, said):
        self.result, self.plain = result, plain
        self.counters, self.said = counters, said

    @property
    def extra_s(self):
        return self.result.wall_s - self.plain.wall_s


def counted(node):
    """What the process's counters say of the agent, and what the agent says of its engine."""
    stats, status = node.stats(), node.status() if node.agent and node.agent.poll() is None else None
    counters = {name: stats["agent_" + name] for name in ("found", "absent", "down", "timeouts", "skipped")}
    said = {}
    if status:
        said = {name: status[name] for name in ("too_large", "full", "refused", "unsuited", "unreachable", "slow", "broken", "mac_refused",
                                                "format_refused", "damaged", "store_errors") if status[name]}
    return {name: count for name, count in counters.items() if count}, said


def once(world, arrange):
    with arrange(world) as (node, agent):
        plain = node.compile(cached=False)
        more = {"NVRTCCACHE_AGENT": agent} if agent else {}
        result = node.compile(**more)
        stopped_now = node.agent and node.agent.poll() is None and is_stopped(node.agent.pid)
        counters, said = ({name: count for name, count in (("timeouts", node.stats()["agent_timeouts"]),) if count}, {}) \
            if stopped_now else counted(node)
    world.fleet.forget([node])
    if not world.plain.same(plain):
        raise RuntimeError("the compiler gives another result than before")
    return Measured(result, plain, counters, said)


def is_stopped(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


def table(world, rounds):
    """Prints a line a fault; the number of hosts that got something else than without us."""
    wrong = 0
    print(f"{'fault':45} {'result':9} {'plain ms':>8} {'extra ms':>8}  counters; agent")
    for name, arrange in FAULTS:
        try:
            measured = [once(world, arrange) for _ in range(rounds)]
        except Impossible as reason:
            print(f"{name:45} skipped: {reason}")
            continue
        differing = sum(not one.result.same(world.plain) for one in measured)
        wrong += differing
        words = "; ".join(", ".join(f"{what} {count}" for what, count in group.items())
                          for group in (measured[-1].counters, measured[-1].said) if group)
        print(f"{name:45} {'same' if not differing else 'DIFFERENT':9} "
              f"{1000 * statistics.median(one.plain.wall_s for one in measured):8.0f} "
              f"{round(1000 * statistics.median(one.extra_s for one in measured)):8}  {words}", flush=True)
    return wrong
