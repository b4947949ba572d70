# SPDX-License-Identifier: MIT
"""simulation: N nodes that start one program, with no engine, with one directory for all, and with an engine

run() is one start of a fleet; a Row says what it cost. The engine's counts are Redis's own (INFO), less what we ask. In
every arm each host's result is compared with that of a host without us, on a node with the same headers.
"""
import os
import shutil
import statistics
import threading
import time

from engine import Proxy
from node import HEADER, OTHER_HEADER, Result

LEAD_S = 0.5  # from when all hosts were told to begin until they do
DEAD_S = 1.0  # for which a killed engine is away


class Row:
    def __init__(self):
        self.compiles = self.wrong = 0
        self.walls = []
        self.counts = {}

    @staticmethod
    def heading():
        return (f"{'nodes':>5} {'spread s':>8} {'late ms':>7} {'arm':22} {'wrong':>5} {'compiles':>8} {'GET':>6}"
                f" {'SET':>6} {'KB up':>8} {'KB down':>8} {'wall ms: median':>15} {'worst':>6}")

    def line(self, nodes, spread, latency, arm):
        count = self.counts.get
        return (f"{nodes:5} {spread:8g} {latency:7g} {arm:22} {self.wrong:5} {self.compiles:8} {count('get', 0):6}"
                f" {count('set', 0):6} {count('total_net_input_bytes', 0) / 1000:8.0f}"
                f" {count('total_net_output_bytes', 0) / 1000:8.0f} {1000 * statistics.median(self.walls):15.0f}"
                f" {1000 * max(self.walls):6.0f}")


class Simulation:
    def __init__(self, fleet, redis, nodes, spread_s=0.0, latency_ms=0.0, other_percent=0, processes=1):
        self.fleet, self.redis, self.nodes = fleet, redis, nodes
        self.spread_s, self.latency_ms, self.processes = spread_s, latency_ms, processes
        # spread over the fleet, not its first nodes
        self.headers = [OTHER_HEADER if (at + 1) * other_percent // 100 > at * other_percent // 100 else HEADER
                        for at in range(nodes)]
        self.plain = {}
        for header in set(self.headers):
            node = fleet.node(header)
            self.plain[header] = node.compile(cached=False)
            fleet.forget([node])

    def start_all(self, nodes, kill):
        begin = time.monotonic() + LEAD_S + 0.03 * len(nodes) * self.processes
        hosts = []
        for at, node in enumerate(nodes):
            when = begin + self.spread_s * at / max(1, len(nodes) - 1)
            hosts += [(node, node.host(at_ns=when * 1e9)) for _ in range(self.processes)]
        if kill:
            wall = next(iter(self.plain.values())).wall_s
            time.sleep(max(0.0, begin + (self.spread_s + wall) / 2 - time.monotonic()))
            self.redis.kill()
            time.sleep(DEAD_S)
            self.redis.start()
        return hosts

    def collect(self, hosts, row):
        # every pipe is emptied at once: results are larger than a pipe
        results = [None] * len(hosts)

        def take(at):
            node, process = hosts[at]
            output, error = process.communicate()
            results[at] = (node, process, output, error)
        threads = [threading.Thread(target=take, args=(at,)) for at in range(len(hosts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for node, process, output, error in results:
            self.fleet.processes.remove(process)
            result = Result(process, output, error)
            row.wrong += not result.same(self.plain[node.header])
            row.walls.append(result.wall_s)

    def run(self, engine=False, shared=False, kill=False):
        row = Row()
        directory = os.path.join(self.fleet.place, "shared") if shared else None
        nodes = [self.fleet.node(header, directory) for header in self.headers]
        proxy = Proxy(self.fleet.place, self.redis.socket, self.latency_ms / 1000) if engine and self.latency_ms else None
        before = self.redis.counts()
        try:
            if engine:
                for node in nodes:
                    node.begin_agent(proxy.address if proxy else self.redis.address)
                for node in nodes:
                    node.await_agent()
            self.collect(self.start_all(nodes, kill), row)
            caches = {node.cache: node for node in nodes}
            row.compiles = sum(node.stats()["misses"] for node in caches.values())
            self.fleet.forget(nodes)
        finally:
            if proxy:
                proxy.close()
            if directory:
                shutil.rmtree(directory, ignore_errors=True)
        after = self.redis.counts()
        row.counts = {name: count - before.get(name, 0) for name, count in after.items()} if engine else {}
        return row
