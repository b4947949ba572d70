#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times hits, misses and start-up side by side in one run, and prints medians and ratios.

usage: bench.py BUILD [ROUNDS]      environment: NVRTC_LIB (the library), CUDA_INCLUDE (the toolkit's headers)
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 15
library, include = os.environ["NVRTC_LIB"], os.environ["CUDA_INCLUDE"]
preload = os.path.join(build, "libnvrtccache.so")
life, top = os.path.join(build, "tests", "life"), tempfile.mkdtemp(prefix="nvrtccache-bench-")
plain = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_") and k != "LD_PRELOAD"}
TRIVIAL = ["trivial", "-arch=sm_90"]
CUB = ["cub", "-arch=sm_90", f"-I{include}/cccl", f"-I{include}"]


def cached(directory, **more):
    return dict(plain, LD_PRELOAD=preload, NVRTCCACHE_DIR=os.path.join(top, directory), **more)


def run(environment, kernel, repeat=0):
    text = subprocess.run([life, library, kernel[0], str(repeat), *kernel[1:]], env=environment, check=True,
                          capture_output=True, text=True).stdout
    return {line.split()[0]: [int(word) for word in line.split()[1:]] for line in text.splitlines()}


def row(what, value, unit, note=""):
    print(f"{what:<58} {value:>12,.1f} {unit:<3} {note}")


def fresh(kernel, name):
    """One process each, in turn: without us, miss (an empty directory), hit (a warm one)."""
    run(cached(name), kernel)
    times = {"plain": [], "miss": [], "hit": []}
    for i in range(rounds if kernel is TRIVIAL else max(rounds // 3, 3)):
        for kind, environment in (("plain", plain), ("miss", cached(f"{name}-{i}")), ("hit", cached(name))):
            times[kind].append(run(environment, kernel)["first"][1] / 1e3)
        shutil.rmtree(os.path.join(top, f"{name}-{i}"), ignore_errors=True)
    return {kind: statistics.median(values) for kind, values in times.items()}, times


def headers():
    """The distinct paths that a CUB hit looks at, as strace names them."""
    trace = os.path.join(top, "trace")
    done = subprocess.run(["strace", "-f", "-y", "-e", "trace=file", "-o", trace, life, library, CUB[0],
                           "0", *CUB[1:]], env=plain, capture_output=True)
    if done.returncode != 0:
        return []
    with open(trace, errors="replace") as file:
        found = re.findall(r'"([^"]*)"', file.read())
    return sorted({path for path in found if path.startswith(include)})


def foreign():
    """An export of the CUB result, imported by another user under another prefix on another mount (as far as this host
    has them): the first process, later ones, and, in turn with those, processes that have a result of their own."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else top
    user = {"user": 65533, "group": 65533, "extra_groups": []} if os.geteuid() == 0 else {}
    there = tempfile.mkdtemp(prefix="nvrtccache-bench-", dir=shared)
    command = os.path.join(build, "nvrtccache")
    bundle, tools = os.path.join(there, "bundle"), [os.path.join(there, os.path.basename(path)) for path in (life, preload)]
    try:
        shutil.copytree(include, os.path.join(there, "include"))
        for path in (life, preload):
            shutil.copy(path, there)
        subprocess.run([command, "export", bundle], env=cached("cub"), check=True, stdout=subprocess.DEVNULL)
        os.chmod(bundle, 0o644)
        os.chmod(there, 0o777)

        def once(name):
            environment = dict(plain, LD_PRELOAD=tools[1], NVRTCCACHE_DIR=os.path.join(there, name))
            kernel = ["cub", "0", "-arch=sm_90", f"-I{there}/include/cccl", f"-I{there}/include"]
            text = subprocess.run([tools[0], library, *kernel], env=environment, check=True, capture_output=True,
                                  text=True, **user).stdout
            return int(text.split()[2]) / 1e3

        once("own")
        subprocess.run([command, "import", bundle], env=dict(plain, NVRTCCACHE_DIR=os.path.join(there, "foreign")),
                       check=True, stdout=subprocess.DEVNULL, **user)
        first = once("foreign")
        times = {"own": [], "foreign": []}
        for i in range(rounds * 4):
            for name in sorted(times, reverse=i % 2 == 0):
                times[name].append(once(name))
        own, later = statistics.median(times["own"]), statistics.median(times["foreign"])
        where = f"{'another user, ' if user else ''}{'another mount' if shared != top else 'the same mount'}"
        row("CUB kernel, imported under another prefix: first process", first, "us", where)
        row("CUB kernel, imported under another prefix: later ones", later, "us",
            f"{later / own:.2f} of a result of its own ({own:,.1f} us; goal: 1.3)")
    finally:
        shutil.rmtree(there, ignore_errors=True)


def main():
    small, all_small = fresh(TRIVIAL, "trivial")
    row("trivial kernel, fresh process: compile without us", small["plain"], "us")
    row("trivial kernel, fresh process: miss", small["miss"], "us",
        f"{100 * (small['miss'] / small['plain'] - 1):+.1f} % (pairwise "
        f"{100 * (statistics.median(m / p for m, p in zip(all_small['miss'], all_small['plain'])) - 1):+.1f} %)")
    row("trivial kernel, fresh process: disk hit", small["hit"], "us", f"{small['plain'] / small['hit']:,.0f}x")
    memory, real = run(cached("trivial"), TRIVIAL, 5000), run(plain, TRIVIAL, 20)
    row("trivial kernel, same process: whole life without us", real["life"][0] / 1e3, "us")
    row("trivial kernel, same process: whole life, memory hit", memory["life"][0] / 1e3, "us",
        f"{real['life'][0] / memory['life'][0]:,.0f}x; create/compile/get/destroy ns " +
        "/".join(str(value) for value in memory["median"]))
    large, all_large = fresh(CUB, "cub")
    row("CUB kernel, fresh process: compile without us", large["plain"], "us")
    row("CUB kernel, fresh process: miss", large["miss"], "us",
        f"{100 * (statistics.median(m / p for m, p in zip(all_large['miss'], all_large['plain'])) - 1):+.1f} % pairwise")
    row("CUB kernel, fresh process: disk hit", large["hit"], "us", f"{large['plain'] / large['hit']:,.0f}x")
    memory, real = run(cached("cub"), CUB, 200), run(plain, CUB, 3)
    row("CUB kernel, same process: memory hit (compile call)", memory["median"][1] / 1e3, "us",
        f"{real['median'][1] / memory['median'][1]:,.0f}x")
    paths = headers()
    if paths:
        done = subprocess.run([life, "stat", "201"], input="\n".join(paths) + "\n", check=True, capture_output=True,
                              text=True)
        plain_stat = int(done.stdout.split()[1]) / 1e3
        row(f"plain stat() of the {len(paths)} paths that it looks at", plain_stat, "us",
            f"{memory['median'][1] / 1e3 / plain_stat:.2f} of it is the memory hit")
    foreign()
    spent = {"plain": [], "preload": []}
    for _ in range(rounds * 4):
        for kind, environment in (("plain", plain), ("preload", cached("none"))):
            start = time.perf_counter_ns()
            subprocess.run(["/bin/true"], env=environment, check=True)
            spent[kind].append((time.perf_counter_ns() - start) / 1e3)
    row("start of /bin/true without us", statistics.median(spent["plain"]), "us")
    row("start of /bin/true with the preload", statistics.median(spent["preload"]), "us",
        f"{statistics.median(a - b for a, b in zip(spent['preload'], spent['plain'])):+.0f} us pairwise")


try:
    main()
finally:
    shutil.rmtree(top, ignore_errors=True)
