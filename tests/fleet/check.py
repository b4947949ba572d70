#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check: what must hold in a fleet, whatever time it takes: for tests/integration/69-fleet.sh

usage: check.py BUILD PLACE NAME

Fails with words where it does not hold. PLACE is an empty directory.
"""
import contextlib
import os
import subprocess
import sys

from engine import Redis
from node import Fleet, Result, Workload
from simulation import Simulation

KERNELS = 6
STARTS = 20  # after which what an engine lost is there again
COUNTED = ("misses", "hits_disk", "stores", "agent_asked", "agent_found", "agent_absent", "agent_down")
PATIENT = {"NVRTCCACHE_AGENT_WAIT": "600s"}  # no machine is too slow for it


class Failed(Exception):
    pass


def expect(condition, *words):
    if not condition:
        raise Failed(" ".join(str(word) for word in words))


@contextlib.contextmanager
def made(build, place, workload=None):
    library = os.path.join(os.path.abspath(build), "tests/fake/13/libnvrtc.so.13")
    fleet = Fleet(build, place, workload or Workload(library, "plain", KERNELS, "-arch=sm_80"))
    redis = Redis(os.path.join(place, "redis"))
    try:
        yield fleet, redis
    finally:
        fleet.close()
        redis.close()


def compiled(node, **how):
    """The counters of what one host did that was right."""
    plain = node.compile(cached=False, **{name: how[name] for name in how if name in ("first", "kernels")})
    before = node.stats()
    result = node.compile(**{**PATIENT, **how})
    expect(result.status == 0 and result.same(plain), "the host got something else:", result.error.decode())
    after = node.stats()
    return {name: after[name] - before[name] for name in COUNTED}


def filled(fleet, redis, **how):
    node = fleet.node(**how)
    node.start_agent(redis.address)
    counts = compiled(node)
    node.stop_agent()
    return node, counts


def killed(fleet, redis):
    """The engine is killed while nodes start, and comes back empty: nobody has anything wrong, and it fills again."""
    fleet.workload.options += ("-DFAKE_SLEEP_MS=20",)
    simulation = Simulation(fleet, redis, 4, spread_s=1.0, other_percent=50)
    # A breaker that is open, or a machine so slow that agents end before all is put, leaves results to the next start.
    for start in range(2 + STARTS):
        row = simulation.run(engine=True, kill=start == 1)
        expect(row.wrong == 0 and len(row.walls) == 4, row.wrong, "wrong results")
        if start > 1 and len(redis.values()) == KERNELS:
            return
    expect(False, "the engine has", len(redis.values()))


def odd(fleet, redis):
    """A host that forks, closes every descriptor and changes its root between kernels has what it has without us."""
    filled(fleet, redis)
    node = fleet.node()
    node.start_agent(redis.address)
    counts = compiled(node, HOST_ODD="1")
    expect(counts["misses"] == 0 and counts["agent_found"] == KERNELS, counts)


def of_process(pid):
    process = subprocess.CompletedProcess((), 0)
    process.pid = pid
    name = b"_0badcafe_%d" % pid
    return Result(process, b"PTX %d %s" % (len(name), name), b"")


def numbers(fleet, _):
    """A process number of another length moves sizes, so results are compared where it has the same one."""
    node, taken = fleet.node(), iter((99, 998, 1001))
    node.compile = lambda **_: of_process(next(taken))
    expect(of_process(999).same_but_for_process(of_process(998)), "other numbers of one length matter")
    expect(not of_process(1000).same_but_for_process(of_process(999)), "lengths do not matter")
    expect(node.plain_like(of_process(1000)).pid == 1001, "not one of that length")
    expect(of_process(1000).same_but_for_process(of_process(1001)), "nor is it the same")


CHECKS = {function.__name__: function for function in (killed, numbers, odd)}


def main():
    build, place, name = sys.argv[1:]
    try:
        with made(build, place) as (fleet, redis):
            CHECKS[name](fleet, redis)
    except (Failed, RuntimeError) as failed:
        print(failed)
        return 1
    return 0


sys.exit(main())
