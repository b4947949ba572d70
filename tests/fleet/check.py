#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check: an engine that is killed while nodes start, and comes back empty: nobody has anything wrong, and it fills again

usage: check.py BUILD PLACE     fails with words where that does not hold; PLACE is an empty directory
"""
import os
import sys

from engine import Redis
from node import Fleet, Workload
from simulation import Simulation

KERNELS = 6
STARTS = 20  # after which what an engine lost is there again


def complaint(fleet, redis):
    simulation = Simulation(fleet, redis, 4, spread_s=1.0, other_percent=50)
    # A breaker that is open, or a machine so slow that agents end before all is put, leaves results to the next start.
    for start in range(2 + STARTS):
        row = simulation.run(engine=True, kill=start == 1)
        if row.wrong or len(row.walls) != 4:
            return f"{row.wrong} wrong results of {len(row.walls)} hosts"
        if start > 1 and len(redis.values()) == KERNELS:
            return None
    return f"the engine has {len(redis.values())}"


def main():
    build, place = sys.argv[1:]
    library = os.path.join(os.path.abspath(build), "tests/fake/13/libnvrtc.so.13")
    fleet = Fleet(build, place, Workload(library, "plain", KERNELS, "-arch=sm_80", "-DFAKE_SLEEP_MS=20"))
    redis = Redis(os.path.join(place, "redis"))
    try:
        return complaint(fleet, redis)
    finally:
        fleet.close()
        redis.close()


sys.exit(main())
