# SPDX-License-Identifier: MIT
"""faults: what may be wrong with an engine and with an agent, and what a host has of it

FAULTS is a table: a name, and a context manager that takes a World, arranges the fault and gives the node where the host
is to run. once() runs a host there and one without us. What engines and agents do wrong without costing time is tried by
63-agent, 64-engines, 71-ask and the unit suites agent_client and value.
"""
import contextlib
import os
import signal
import statistics

from engine import Proxy

FAULTS = []


class World:
    """A fleet, an engine that has every result of its workload, and what a host without us gets."""

    def __init__(self, fleet, redis):
        self.fleet, self.redis = fleet, redis
        first = fleet.node()
        self.plain = first.compile(cached=False)
        first.start_agent(redis.address)
        self.cold = first.compile()
        fleet.forget([first])
        values = redis.values()
        if len(values) != fleet.workload.kernels or not self.cold.same(self.plain):
            raise RuntimeError(f"the engine has {len(values)} of {fleet.workload.kernels} results; the first node's host "
                               + ("was right" if self.cold.same(self.plain) else "was wrong"))


def fault(name):
    def keep(function):
        FAULTS.append((name, contextlib.contextmanager(function)))
        return function
    return keep


@fault("nothing (the engine is warm)")
def none(world):
    node = world.fleet.node()
    node.start_agent(world.redis.address)
    yield node


@fault("engine: nobody there")
def down(world):
    node = world.fleet.node()
    node.start_agent("redis+unix://" + os.path.join(world.fleet.place, "nowhere"))
    yield node


@fault("engine: stopped")
def stopped(world):
    node = world.fleet.node()
    node.start_agent(world.redis.address)
    world.redis.halt()
    try:
        yield node
    finally:
        world.redis.go_on()


@fault("engine: each answer takes 1 s")
def slow(world):
    node = world.fleet.node()
    proxy = Proxy(world.fleet.place, world.redis.socket, latency_s=1)
    try:
        node.start_agent(proxy.address)
        yield node
    finally:
        proxy.close()


@fault("agent: stopped")
def agent_stopped(world):
    node = world.fleet.node()
    node.start_agent(world.redis.address)
    node.agent.send_signal(signal.SIGSTOP)
    try:
        yield node
    finally:
        node.agent.send_signal(signal.SIGCONT)


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
    with arrange(world) as node:
        plain = node.compile(cached=False)
        result = node.compile()
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
        measured = [once(world, arrange) for _ in range(rounds)]
        differing = sum(not one.result.same(world.plain) for one in measured)
        wrong += differing
        words = "; ".join(", ".join(f"{what} {count}" for what, count in group.items())
                          for group in (measured[-1].counters, measured[-1].said) if group)
        print(f"{name:45} {'same' if not differing else 'DIFFERENT':9} "
              f"{1000 * statistics.median(one.plain.wall_s for one in measured):8.0f} "
              f"{round(1000 * statistics.median(one.extra_s for one in measured)):8}  {words}", flush=True)
    return wrong
