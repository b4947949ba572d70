# SPDX-License-Identifier: MIT
"""The tests that judge a mutant (suites of the unit tests, case files, scripts, transcripts), and which of them reach a line.

What reaches what is measured once, by a build with gcov's counters in $BUILD/mutants/coverage, and kept beside it.
"""
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import places

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cases"))
os.environ.setdefault("CASES_PLACES", "1")
import differential  # noqa: E402

# Integration scripts that ask for what no case file does and take seconds. Not: those that take minutes.
SCRIPTS = ["10-loader", "11-copies", "13-builtins", "14-stderr", "15-traps", "18-nvvm", "19-nvjitlink", "25-debug-paths", "26-stored", "28-bundled-headers", "33-sticky", "34-arithmetic", "36-own-cache", "39-races",
           "45-pch", "50-loader-locks", "54-hooks", "59-modules", "51-ls", "53-explain", "55-layers", "56-trace", "57-stamps", "58-show", "61-report",
           "63-agent", "71-ask", "74-signed", "64-engines", "65-headers", "68-json", "72-verify", "73-", "90-", "91-", "92-", "93-", "94-", "97-"]
FOLDERS = ["cache", "cache/*", "keygen", "interpose/*", "cli", "cli/*", "agent/*"]
ARMS = ["cold", "disk", "memory"]
PATIENCE = {"unit": 60, "case": 150, "script": 150}


def end_all(place):
    """Whatever has this place in its environment: agents and servers that a test has started and could not stop."""
    wanted = f"TMPDIR={place}".encode()
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if name.isdigit() and wanted in file.read().split(b"\0"):
                    os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass  # it has ended, or is nobody's


def run(command, patience, environment=None):
    """(exit code, output); 124 where it took too long. Nothing of it is left, neither processes nor files."""
    place = tempfile.mkdtemp(prefix="nvrtccache-mutants.")
    os.chmod(place, 0o711)  # some test becomes another user
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env=dict(environment or os.environ, TMPDIR=place), start_new_session=True)
    try:
        output, _ = process.communicate(timeout=patience)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        end_all(place)
        process.communicate()
        return 124, "took too long"
    finally:
        end_all(place)
        shutil.rmtree(place, ignore_errors=True)


class Test:
    def __init__(self, kind, name):
        self.kind, self.name, self.seconds, self.kills, self.trusted = kind, name, None, 0, None

    def __str__(self):
        return f"{self.kind} {self.name}"

    def fails(self, build):
        """None where all is well, else a line that says what is not."""
        return getattr(self, self.kind)(build)

    def notices(self, build, honest):
        """The same, of a test that all is well with in an honest build: that is asked at its first find."""
        wrong = None if self.trusted is False else self.fails(build)
        if wrong and self.trusted is None:
            said = self.fails(honest)
            self.trusted = not said
            if said:
                print(f"# {self} is asked no more: it fails without a mutant too: {said}", flush=True)
        return wrong if self.trusted else None

    def unit(self, build):
        code, output = run([os.path.join(build, "unit-tests"), "--filter", f"{self.name}/*", "-j1", "--timeout", "20",
                            "--short-filename"], PATIENCE["unit"])
        if code == 0:
            return None
        found = re.search(r"\[(?:FAIL|CRASH)\] (\w+::\w+)", output)
        return found.group(1) if found else f"unit-tests ended with {code}"

    def script(self, build):
        code, output = run(["bash", os.path.join(HERE, "..", "integration", self.name), build], PATIENCE["script"])
        return self.first_failure(code, output)

    def transcript(self, build):
        folder = os.path.join(HERE, "..", "transcripts")
        code, output = run([sys.executable, f"{folder}/transcript.py", build, f"{folder}/{self.name}"], PATIENCE["script"])
        return self.first_failure(code, output)

    def case(self, build):
        path = os.path.join(HERE, "..", "cases", self.name)
        command = [sys.executable, os.path.join(HERE, "..", "cases", "differential.py"), build, path]
        code, output = run(command, PATIENCE["case"], dict(os.environ, CASES_ARMS=" ".join(ARMS), CASES_WORKERS="1"))
        return self.first_failure(code, output)

    @staticmethod
    def first_failure(code, output):
        """Of what speaks TAP."""
        if code == 0:
            return None
        found = re.search(r"^not ok \d+ - (.*)", output, re.MULTILINE)
        return found.group(1) if found else f"it ended with {code}"


def all_tests(build, with_nvrtc):
    listed = subprocess.run([os.path.join(build, "unit-tests"), "--list"], capture_output=True, check=True).stdout.decode()
    tests = [Test("unit", name) for name in re.findall(r"^(\w+): \d+ tests?", listed, re.MULTILINE)]
    if with_nvrtc:
        tests += [Test("case", os.path.basename(path)) for path in sorted(glob.glob(f"{HERE}/../cases/*.case"))]
    for path in sorted(glob.glob(f"{HERE}/../integration/[0-9]*.sh")):
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            needs = "# needs: nvrtc" in file.read()
        if any(name.startswith(wanted) for wanted in SCRIPTS) and (with_nvrtc or not needs):
            tests.append(Test("script", name))
    return tests + [Test("transcript", os.path.basename(path)) for path in sorted(glob.glob(f"{HERE}/../transcripts/*.t"))]


def functions_of(path):
    """[(name, its first line, its last line, its text's digest)]"""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    for name, first, last in places.bodies(source):
        digest = hashlib.sha256(source[first:last].encode()).hexdigest()[:16]
        yield name, source.count("\n", 0, first) + 1, source.count("\n", 0, last) + 1, digest


class Reach:
    """Which tests reach which lines: {test: {"seconds", "reached": {path: {function: [digest, lines from its first]}}}}.
    A test is measured once, by a build with counters. Where a function has changed since, all that reached it counts."""

    def __init__(self, build, tests, anew):
        self.top = os.path.join(os.path.abspath(build), "mutants", "coverage")
        self.tests, self.functions, self.known = tests, {}, {}
        self.kept, self.lock, self.ready = os.path.join(build, "mutants", "reach.json"), threading.Lock(), False
        if os.path.exists(self.kept) and not anew:
            with open(self.kept, encoding="utf-8") as file:
                self.known = json.load(file)

    def named(self, name):
        return next((test for test in self.tests if str(test) == name), None)

    def get_ready(self):
        """Measures what is not known, when it is first asked for: that takes minutes."""
        with self.lock:
            if self.ready:
                return
            if any(str(test) not in self.known for test in self.tests):
                subprocess.run(shlex.split(os.environ["MUTANT_COVERAGE"]), check=True, stdout=subprocess.DEVNULL)
            for test in self.tests:
                if str(test) not in self.known:
                    self.known[str(test)] = self.measure(test)
                    with open(self.kept + ".new", "w", encoding="utf-8") as file:
                        json.dump(self.known, file)
                    os.replace(self.kept + ".new", self.kept)
                test.seconds = self.known[str(test)]["seconds"]
            self.ready = True

    def measure(self, test):
        traces = os.path.join(self.top, "traces")
        shutil.rmtree(traces, ignore_errors=True)
        os.environ["GCOV_PREFIX"] = traces
        begin = time.monotonic()
        wrong = test.fails(self.top)
        seconds = round(time.monotonic() - begin, 2)
        del os.environ["GCOV_PREFIX"]
        print(f"# what {test} reaches: {seconds} s{', and fails: ' + wrong if wrong else ''}", flush=True)
        reached = {path: self.by_function(path, lines) for path, lines in self.read(traces)}
        shutil.rmtree(traces, ignore_errors=True)
        return {"seconds": seconds, "reached": {path: found for path, found in reached.items() if found}}

    def functions_of(self, path):
        if path not in self.functions:
            self.functions[path] = list(functions_of(path))
        return self.functions[path]

    def by_function(self, path, lines):
        found = {}
        for name, first, last, digest in self.functions_of(path):
            inside = [line - first for line in lines if first <= line <= last]
            if inside:
                found[name] = [digest, inside]
        return found

    def read(self, traces):
        inside = traces + self.top
        counts = [path for folder in FOLDERS for path in glob.glob(f"{inside}/{folder}/*.gcda")]
        for path in counts:
            note = os.path.splitext(os.path.relpath(path, inside))[0] + ".gcno"
            shutil.copy(os.path.join(self.top, note), os.path.splitext(path)[0] + ".gcno")
        if not counts:
            return
        done = subprocess.run(["gcov", "--json-format", "--stdout", *counts], capture_output=True, check=True)
        for text in done.stdout.decode().splitlines():
            for file in json.loads(text)["files"]:
                if file["file"].endswith(".c") and os.path.exists(file["file"]):
                    yield file["file"], [line["line_number"] for line in file["lines"] if line["count"]]

    def reaches(self, test, path, line):
        """2: the line, or the function as it was then; 1: the function around it; 0: neither."""
        found = self.known[str(test)]["reached"].get(path, {})
        for name, first, last, digest in self.functions_of(path):
            if first <= line <= last:
                then, lines = found.get(name, ["", []])
                return 0 if not lines else 2 if then != digest or line - first in lines else 1
        return 1 if found else 0

    def of(self, path, line):
        """The tests that reach the line, else those that reach the function; those first that cost little for a find."""
        self.get_ready()
        reached = {test: self.reaches(test, path, line) for test in self.tests}
        best = max(reached.values(), default=0)
        return sorted((test for test in self.tests if best and reached[test] == best),
                      key=lambda test: test.seconds / (1 + test.kills))


def library_is_real():
    path = os.environ.get("NVRTC_LIB", "")
    return bool(path) and os.path.exists(path) and differential.Library(path).release >= (11, 2)
