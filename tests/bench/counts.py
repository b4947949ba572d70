#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions and system calls of hits, and compares them with those that counts.txt has.

usage: counts.py BUILD [--write]      environment: COUNTS_NVRTC (a library; default: the fake one of the tests)

Instructions are those inside libnvrtccache.so alone (callgrind), system calls those of the process (strace), so that no
figure depends on the load, and few on the machine. Of a disk hit: a process that compiles less one that only loads NVRTC;
of a memory hit: a tenth of what ten more of them cost, which are counted on disk one by one. Exit status: 1 where a figure is more than 3 % above the kept one.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SLACK, CALLS_SLACK = 1.03, 4  # malloc asks for memory once more or less
HEADERS, DIRECTORIES = 400, 40

build = os.path.abspath(sys.argv[1])
kept = os.path.join(os.path.dirname(os.path.abspath(__file__)), "counts.txt")
preload, life = os.path.join(build, "libnvrtccache.so"), os.path.join(build, "tests", "life")
nvrtc = os.environ.get("COUNTS_NVRTC") or os.path.join(build, "tests", "fake", "13", "libnvrtc.so.13")
top = tempfile.mkdtemp(prefix="nvrtccache-counts-", dir="/tmp")
plain = {"PATH": os.environ["PATH"], "HOME": top, "LC_ALL": "C"}
cached = dict(plain, LD_PRELOAD=preload, NVRTCCACHE_DIR=os.path.join(top, "cache"))


def run(environment, case, rounds, before=()):
    return subprocess.run([*before, life, nvrtc, case[0], str(rounds), *case[1:]], env=environment, check=True,
                          capture_output=True, text=True)


def instructions(case, rounds):
    """The self cost of all functions of the library in a callgrind file."""
    out = os.path.join(top, "callgrind")
    settings = [f"--{key}={value}" for key, value in (("tool", "callgrind"), ("callgrind-out-file", out))]
    run(cached, case, rounds, ["valgrind", "-q", *settings])
    names, ours, skip, total = {}, False, False, 0
    with open(out) as file:
        for line in file:
            found = re.match(r"ob=\((\d+)\)(?: (.*))?", line)
            if found:
                if found[2]:
                    names[found[1]] = found[2]
                ours = names[found[1]].endswith("/libnvrtccache.so")
            elif line.startswith("cob="):
                found = re.match(r"cob=\((\d+)\)(?: (.*))?", line)
                if found[2]:
                    names[found[1]] = found[2]
            elif line.startswith("calls="):
                skip = True
            elif re.match(r"[+*\-\d]", line):
                total += int(line.split()[1]) if ours and not skip else 0
                skip = False
    return total


def calls(environment, case, rounds):
    # The kernel is told to put the library in by the traced process alone: strace itself is not preloaded.
    inner = {key: value for key, value in environment.items() if key != "LD_PRELOAD"}
    # Ordinary users are asked who they are more often than root, of whom less is checked.
    before = ["strace", "-f", "-c", "-e", "trace=!geteuid,getresuid", "-o", os.path.join(top, "strace")]
    if "LD_PRELOAD" in environment:
        before += ["-E", f"LD_PRELOAD={preload}"]
    run(inner, case, rounds, before)
    with open(os.path.join(top, "strace")) as file:  # the sum of all calls
        return int(re.search(r"(\d+)(?: +\d+)? total$", file.read(), re.M)[1])


def make_cases():
    include = os.path.join(top, "include")
    first, second = os.path.join(top, "first"), os.path.join(top, "second")
    lines = []
    for i in range(HEADERS):
        name = f"d{i % DIRECTORIES:02}/h{i:03}.h"
        for place in (include, first, second):
            os.makedirs(os.path.join(place, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(include, name), "w") as file:
            file.write(f"#define H{i} {i}\n")
        lines.append(f"#include <{name}>\n")
    for name, text in (("headers.cu", "".join(lines)), ("large.cu", "// 0123456789abcdef 0123456789\n" * 32768)):
        with open(os.path.join(top, name), "w") as file:
            file.write(text + "extern \"C\" __global__ void k() {}\n")
    return {
        "tiny": ["trivial"],
        "large source": [f"@{top}/large.cu"],
        "many headers": [f"@{top}/headers.cu", f"-I{include}"],
        "two trees first": [f"@{top}/headers.cu", f"-I{first}", f"-I{second}", f"-I{include}"],
    }


def measure():
    """{case: [instructions of a disk hit, of a memory hit, system calls of a disk hit, of a memory hit]}"""
    cases, figures = make_cases(), {}
    for case in cases.values():
        for _ in range(100):  # what is as new as the compile is not kept, and the first hit may mark the file as used
            run(cached, case, 0)
            line = run(dict(cached, NVRTCCACHE_STATS="1"), case, 0).stderr
            if "1 on disk" in line:
                break
        else:
            sys.exit(f"counts.py: it never was a hit: {line}")
    for name, case in cases.items():
        figures[name] = [
            instructions(case, 0),
            (instructions(case, 20) - instructions(case, 10)) // 10,
            calls(cached, case, 0) - calls(cached, ["none"], 0),
            (calls(cached, case, 20) - calls(cached, case, 10)) // 10,
        ]
    return figures


def compiler():
    text = subprocess.run(["readelf", "-p", ".comment", preload], check=True, capture_output=True, text=True).stdout
    found = re.search(r"\[ *0\]\s+(.*)", text)
    # Of an ordinary user more is compared, for each header.
    user = "" if os.geteuid() == 0 else ", not as root"
    return f"{os.uname().machine}, {found[1] if found else 'unknown'}{user}"


def main():
    for tool in ("valgrind", "strace", "readelf"):
        if not shutil.which(tool):
            print(f"SKIP {tool} is not here")
            return 0
    figures, by = measure(), compiler()
    with open(kept) as file:
        kept_by, *rows = [line.rstrip("\n") for line in file if not line.startswith("#")]
    then = {name.strip(): [int(number) for number in numbers.split()]
            for name, _, numbers in (row.partition(":") for row in rows)}
    print(f"{'':<16}{'instructions':>24}{'system calls':>20}")
    print(f"{'':<16}{'disk hit':>12}{'memory hit':>12}{'disk':>10}{'memory':>10}")
    failed = False
    for name, now in figures.items():
        print(f"{name:<16}{now[0]:>12,}{now[1]:>12,}{now[2]:>10,}{now[3]:>10,}")
        for i, (what, limit) in enumerate(zip(("instructions", "instructions", "calls", "calls"), then.get(name, now))):
            if what == "instructions" and by != kept_by:
                continue  # other code
            if now[i] > limit * SLACK + CALLS_SLACK:
                failed = True
                print(f"TOO MANY {what} of a {('disk', 'memory')[i % 2]} hit, {name}: {now[i]:,}, kept: {limit:,}")
    if by != kept_by:
        print(f"SKIP instructions are kept of {kept_by}, and this is {by}")
    if "--write" in sys.argv:
        with open(kept, "w") as file:
            file.write("# Made by make bench-check WRITE=1. Instructions of a disk and a memory hit, system calls of both.\n")
            file.write(by + "\n")
            file.writelines(f"{name}: {' '.join(map(str, now))}\n" for name, now in figures.items())
    return 1 if failed else 0


try:
    status = main()
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(status)
