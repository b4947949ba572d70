# SPDX-License-Identifier: MIT
"""Running a client's driver plainly, with a cold cache, with a warm one and verified, and comparing what it says. In the plain
run and in a second warm one the time inside the compilers' functions is taken (tests/clients/compiler_clock.c)."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from catalogue import HOME, REPOSITORY, Unavailable, last_line, run

SHOWN = 12


COMPILERS = {"nvrtc": "NVRTC", "nvJitLink": "nvJitLink", "nvvm": "libNVVM"}  # by what their functions begin with


class Clock:
    """What tests/clients/compiler_clock.c wrote: calls and CPU time, of functions by their name in the table."""

    def __init__(self, path):
        self.calls, self.seconds, self.unclocked = {}, dict.fromkeys(COMPILERS, 0.0), []
        with contextlib.suppress(FileNotFoundError), open(path) as file:
            for line in file:
                self.add(line.split())

    def add(self, words):
        if words[0] == "unclocked":
            self.unclocked.append(" ".join(words[1:]))
            return
        name = re.sub(r"_[0-9]+_[0-9]+$", "", words[0].lstrip("_"))
        self.calls[name] = self.calls.get(name, 0) + int(words[1])
        for begin in COMPILERS:
            if name.startswith(begin):
                self.seconds[begin] += int(words[2]) / 1e9


class Outcome:
    """One run of a driver."""

    def __init__(self, done, pid_digits, seconds, clock):
        self.code, self.output, self.errors = done.returncode, done.stdout, done.stderr
        self.pid_digits, self.seconds, self.clock = pid_digits, seconds, clock
        self.report = {}
        for line in done.stderr.splitlines():
            if line.startswith("report "):
                self.report = json.loads(line[7:])


class Runs:
    """All runs of one client. `again` is a second plain one, made where a run with the cache gave other module ids."""

    def __init__(self, client):
        self.client = client
        self.again, self.log = None, []

    def with_cache(self):
        return {"cold": self.cold, "warm": self.warm, "timed": self.timed, "verified": self.verified}

    def outcomes(self):
        return [self.plain, *self.with_cache().values()] + ([self.again] if self.again else [])

    def own_ids(self):
        """Numbers of the lines that are new in every plain run."""
        return different(self.plain, self.again) if self.again else set()


TAIL = re.compile(r" with ([0-9]+) ids of ([0-9]+) bytes as is [0-9a-f]{16}$")


def as_is(outcome):
    return outcome.output.splitlines()


def same_line(one, other):
    """Equal but for module ids; those of pids with more digits make the rest another too (tests/clients/report.py)."""
    a, b = TAIL.search(one), TAIL.search(other)
    if not a or not b:
        return one == other
    return one[:a.start()] == other[:b.start()] or (a[1] == b[1] and a[2] != b[2])


def alike(one, other):
    a, b = as_is(one), as_is(other)
    return one.code == other.code and len(a) == len(b) and all(map(same_line, a, b))


def different(one, other):
    return {number for number, (a, b) in enumerate(zip(as_is(one), as_is(other))) if a != b}


def driver_of(client):
    return os.path.join(REPOSITORY, "tests", "clients", client.driver + ".py")


class Bench:
    def __init__(self, build, nvrtc, python):
        self.build, self.nvrtc, self.python = os.path.abspath(build), nvrtc, python
        self.top = tempfile.mkdtemp(prefix="nvrtccache-clients-")
        self.cache = os.path.join(self.top, "cache")

    def variables(self, client):
        home = os.path.join(self.top, "home")
        shutil.rmtree(home, ignore_errors=True)
        os.makedirs(os.path.join(home, "tmp"))
        variables = {k: v for k, v in os.environ.items()
                     if not k.startswith(("NVRTCCACHE_", "CUDA_CACHE_", "CUPY_", "PYTHON", "LD_PRELOAD"))}
        variables.update(HOME=home, XDG_CACHE_HOME=home + "/.cache", TMPDIR=home + "/tmp", PYTHONDONTWRITEBYTECODE="1",
                         LD_LIBRARY_PATH=self.nvrtc["RUN_PATH"], CUDA_PATH=self.nvrtc["NVRTC_ROOT"],
                         CUDA_HOME=self.nvrtc["NVRTC_ROOT"], CUDA_INCLUDE=self.nvrtc["CUDA_INCLUDE"])
        if client.stub and not self.nvrtc["CUDA_DRIVER"]:
            variables["LD_LIBRARY_PATH"] += ":" + os.path.join(self.build, "apps", "stub")
        if client.program:
            variables["CLIENT_PROGRAM"] = os.path.join(self.build, "apps", client.program)
        if client.debian:
            variables["CLIENT_SOURCE"] = os.path.join(HOME, client.driver)
        if client.source:
            variables.update(CLIENT_WORK=os.path.join(HOME, client.driver), NVRTC_LIB=self.nvrtc["NVRTC_LIB"],
                             CLIENT_SOURCE=os.path.abspath(os.environ[client.source]),
                             CUDA_STUB=os.path.join(self.build, "apps", "stub"))
        return variables

    def build_sources(self, client):
        directory = os.environ.get(client.source)
        if not directory:
            raise Unavailable(f"not to be had from PyPI: {client.source}=DIRECTORY scripts/clients {self.build} {client.name}")
        if not os.path.exists(os.path.join(directory, client.holds)):
            raise Unavailable(f"{client.source}={directory} has no {client.holds}")
        os.makedirs(os.path.join(HOME, client.driver), exist_ok=True)
        done = run([self.python, driver_of(client), "--build"], env=self.variables(client), cwd=self.top)
        if done.returncode != 0:
            raise Unavailable("cannot be built here: " + last_line(done.stderr))

    def build_program(self, client):
        done = run(["make", "-s", "-C", REPOSITORY, "BUILD=" + self.build, f"{self.build}/apps/{client.program}"])
        if not os.path.exists(os.path.join(self.build, "apps", client.program)):
            raise Unavailable(f"no nvJitLink to link with: {last_line(done.stderr)}")

    def run_elsewhere(self, client, words, place, **more):
        """One cached run of a driver in a directory of its own; returns how many compilations hit, and all of them."""
        os.makedirs(os.path.join(self.top, place), exist_ok=True)
        before = self.counts()
        done = run([self.python, driver_of(client), *words], cwd=os.path.join(self.top, place), env={
            **self.variables(client), "LD_PRELOAD": os.path.join(self.build, "libnvrtccache.so"), "NVRTCCACHE_DIR": self.cache,
            **more})
        if done.returncode != 0:
            raise Unavailable(last_line(done.stderr))
        after = self.counts()
        hits = sum(after[name] - before[name] for name in ("hits_disk", "hits_memory"))
        return hits, hits + after["misses"] - before["misses"]

    def run(self, client, cached, timed=False, **more):
        variables, preload = self.variables(client), []
        clock = os.path.join(self.top, "clock")
        if timed:
            with contextlib.suppress(FileNotFoundError):
                os.remove(clock)
            preload.append(os.path.join(self.build, "tests", "compiler_clock.so"))
            variables["COMPILER_CLOCK"] = clock
            if "lazily" in client.binds:
                variables["LD_BIND_NOW"] = "1"
        if cached:
            preload.append(os.path.join(self.build, "libnvrtccache.so"))
            variables.update(NVRTCCACHE_DIR=self.cache, **more)
        if preload:
            variables["LD_PRELOAD"] = ":".join(preload)
        begin = time.monotonic()
        process = subprocess.Popen([self.python, driver_of(client)], env=variables, cwd=self.top, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        try:
            output, errors = process.communicate(timeout=3600 if client.source else 600)
        finally:
            process.kill()
        done = subprocess.CompletedProcess([], process.returncode, output, errors)
        return Outcome(done, len(str(process.pid)), time.monotonic() - begin, Clock(clock) if timed else None)

    def counts(self):
        done = run([os.path.join(self.build, "nvrtccache"), "stats", "--json"],
                   env={**os.environ, "NVRTCCACHE_DIR": self.cache})
        return json.loads(done.stdout)

    def all_runs(self, client):
        """Module ids hold the pid, whose length shows in names: where that differs, so may the output, and all runs are
        made anew."""
        while True:
            shutil.rmtree(self.cache, ignore_errors=True)
            runs = Runs(client)
            runs.plain = self.run(client, False, timed=True)
            if runs.plain.code != 0 or not runs.plain.report:
                return runs
            runs.cold, runs.after_cold = self.run(client, True), self.counts()
            runs.warm, runs.after_warm = self.run(client, True), self.counts()
            runs.timed, runs.after_timed = self.run(client, True, timed=True), self.counts()
            log = os.path.join(self.top, "verify.log")
            runs.verified = self.run(client, True, NVRTCCACHE_VERIFY="1", NVRTCCACHE_LOG=log)
            runs.after_verified = self.counts()
            if os.path.exists(log):
                with open(log, errors="replace") as file:
                    runs.log = file.read().splitlines()
            if any(as_is(runs.plain) != as_is(other) for other in runs.with_cache().values()):
                runs.again = self.run(client, False)
            one_length = len({outcome.pid_digits for outcome in runs.outcomes()}) == 1
            if one_length or client.source or all(alike(other, runs.plain) for other in runs.outcomes()):
                return runs

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


def difference(one, other):
    lines = []
    for a, b in zip(one.splitlines() + [""] * 10000, other.splitlines() + [""] * 10000):
        if a != b:
            lines += [f"- {a[:300]}", f"+ {b[:300]}"]
        if not a and not b:
            break
    return lines[:SHOWN]
