#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what a hit costs by size of the source, number of headers, entries, processes and threads, as build/plots/*.svg (and
*-dark.svg), and prints the same numbers. matplotlib comes from PyPI, into build/plots.

usage: plots.py BUILD      environment: NVRTC_LIB (the library), PLOTS_ENTRIES (default: 100000)
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv

build = os.path.abspath(sys.argv[1])
life, scale = os.path.join(build, "tests", "life"), os.path.join(build, "tests", "scale")
library, top = os.environ["NVRTC_LIB"], tempfile.mkdtemp(prefix="nvrtccache-plots-")
plain = {k: v for k, v in os.environ.items() if not k.startswith("NVRTCCACHE_") and k != "LD_PRELOAD"}
ROUNDS = 15


def cached(directory, **more):
    return dict(plain, LD_PRELOAD=os.path.join(build, "libnvrtccache.so"), NVRTCCACHE_DIR=os.path.join(top, directory), **more)


def run(environment, kernel, rounds=0):
    """{word: numbers} of the lines that life prints."""
    done = subprocess.run([life, library, kernel[0], str(rounds), *kernel[1:]], env=environment, check=True, capture_output=True,
                          text=True)
    return {line.split()[0]: [int(word) for word in line.split()[1:]] for line in done.stdout.splitlines()}


def hits(kernel, directory="cache"):
    """Microseconds of create, compile and getters: of a compile, a hit on disk, a hit in memory."""
    def first(environment):
        return sum(run(environment, kernel)["first"][:3]) / 1e3

    for _ in range(3):  # what is as new as its compile is not cached
        run(cached(directory), kernel)
    disk = statistics.median(first(cached(directory)) for _ in range(ROUNDS))
    return first(plain), disk, run(cached(directory), kernel, 50)["life"][0] / 1e3


def source(size):
    path = os.path.join(top, f"{size}.cu")
    with open(path, "w") as file:
        file.write("// 0123456789abcdef 0123456789\n" * (size // 31) + 'extern "C" __global__ void k() {}\n')
    return [f"@{path}"]


def headers(count):
    include = os.path.join(top, f"include{count}")
    os.makedirs(include)
    for i in range(count):
        with open(os.path.join(include, f"h{i}.h"), "w") as file:
            file.write(f"#define H{i}\n")
    path = os.path.join(top, f"headers{count}.cu")
    with open(path, "w") as file:
        file.write("".join(f"#include <h{i}.h>\n" for i in range(count)) + 'extern "C" __global__ void k() {}\n')
    return [f"@{path}", f"-I{include}"]


def entries(count):
    if count > 1:
        subprocess.run([scale, "plant", os.path.join(top, f"store{count}"), str(count)], check=True, capture_output=True)
    return hits(["trivial"], f"store{count}")


def processes(count):
    """Microseconds of a disk hit, in so many processes at a time."""
    times = []
    for _ in range(max(ROUNDS // count, 3)):
        running = [subprocess.Popen([life, library, "trivial", "0"], env=cached("cache"), stdout=subprocess.PIPE, text=True)
                   for _ in range(count)]
        times += [sum(map(int, process.communicate()[0].split()[1:4])) / 1e3 for process in running]
    return [statistics.median(times)]


def threads(count):
    """Thousands of hits in memory per second, of so many threads together."""
    return [run(cached("cache", LIFE_THREADS=str(count)), ["trivial"], 2000)["threads"][0] / 1e3]


THEMES = {"": {"ink": "#1b1d21", "page": "#ffffff", "lines": ["#d55e00", "#0072b2", "#009e73"]},
          "-dark": {"ink": "#e6e8eb", "page": "#14161a", "lines": ["#ee7a2b", "#4a9fdc", "#1fb58a"]}}
LINES = ["compile", "disk hit, fresh process", "memory hit"]
PLOTS = [
    ("source", "A hit by size of the source", "bytes of source", "µs", LINES, [10 ** k for k in range(3, 7)], lambda n: hits(source(n))),
    ("headers", "A hit by number of headers", "headers", "µs", LINES, [1, 10, 100, 1000], lambda n: hits(headers(n))),
    ("entries", "A hit by size of the cache", "entries in the cache", "µs", LINES,
     [10 ** k for k in range(7) if 10 ** k <= int(os.environ.get("PLOTS_ENTRIES", 100000))], entries),
    ("processes", "A hit among other processes", "processes at a time", "µs", ["disk hit, fresh process"], [1, 2, 4, 8, 16, 32],
     processes),
    ("threads", "Hits of all threads together", "threads", "thousands per second", ["memory hits"], [1, 2, 4, 8, 16, 32], threads),
]


def get_matplotlib():
    place = os.path.join(build, "plots", "venv")
    python = os.path.join(place, "bin", "python")
    if not os.path.exists(python):
        venv.create(place, with_pip=True)
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "matplotlib==3.*"], check=True)
    if sys.prefix != place:
        os.execve(python, [python, *sys.argv], os.environ)


def draw(path, title, across, up, lines, numbers, values, theme):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot

    ink, page = theme["ink"], theme["page"]
    pyplot.rcParams.update({"text.color": ink, "axes.labelcolor": ink, "axes.edgecolor": ink, "xtick.color": ink, "ytick.color": ink,
                            "axes.facecolor": page, "figure.facecolor": page, "savefig.facecolor": page})
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for line, column, color in zip(lines, zip(*values), theme["lines"]):
        axes.plot(numbers, column, marker="o", color=color)
        axes.annotate(line, (numbers[-1], column[-1]), xytext=(9, 0), textcoords="offset points", va="center", color=color)
    axes.set_xscale("log")
    if len(lines) > 1:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set(xlabel=across, ylabel=up)
    axes.set_title(title, loc="left")
    axes.grid(True, which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, bbox_inches="tight")
    pyplot.close(figure)


def main():
    for name, title, across, up, lines, numbers, measure in PLOTS:
        print(f"{across:<22}" + "".join(f"{line:>26}" for line in lines) + f"  {up}")
        values = []
        for number in numbers:
            values.append(measure(number))
            print(f"{number:<22,}" + "".join(f"{value:>26,.1f}" for value in values[-1]), flush=True)
        for suffix, theme in THEMES.items():
            draw(os.path.join(build, "plots", name + suffix + ".svg"), title, across, up, lines, numbers, values, theme)
    print(f"drawn: {os.path.join(sys.argv[1], 'plots')}/*.svg")


get_matplotlib()
try:
    main()
finally:
    shutil.rmtree(top, ignore_errors=True)
