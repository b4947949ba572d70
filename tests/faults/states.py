#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""states: what a cache directory may look like, and odd settings and names, without a fault in any call. TAP.

usage: states.py expect BASE BUILD                              without the library: writes down what NVRTC gives
       LD_PRELOAD=libnvrtccache.so states.py WHAT BASE BUILD [STRIDE]

BASE is an empty directory for it alone. WHAT: torn (a power cut leaves a part of what was written; every STRIDE-th block),
places (something else stands where a file or directory of the cache was), names (settings, programs and headers with odd
names). In each state a host process must get what NVRTC gives, print nothing and leave no descriptor open, and so must a
second one, which is served from the cache where the table says so. Processes are forks of this one, which never loads
NVRTC itself.
"""
import ctypes
import json
import os
import pickle
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts"))
from compiler import Program  # noqa: E402

BLOCK = 512
SOURCE = '#include "x.h"\n#include "m.h"\nextern "C" __global__ void k() {}\n'
LONG = b"n" * 64
# name, -I, header, header in memory
ODD = [(b"../up/program.cu", b"-Iinc2/../inc2", b"x.h", b"m.h"), (b"a\nb.cu", b"-Iinc1\n\xff", b"x.h", b"m.h"),
       (b"\xff\xfe.cu", b"-Iinc2", b"\xe9.h", b"\xe9/m.h"), (b"..", b"-I.", b"inc2/x.h", b"../m.h"),
       (b"", b"-I/", b"inc2/x.h", b"m.h"), (b"/../../no/./such//p.cu", b"-Iinc2//", b"../inc2/x.h", b"./m.h"),
       (b"%s%n%99999d.cu", b"-Iinc2/%s/..", b"x.h", b"%s%n.h"), (LONG * 3 + b".cu", b"-Iinc2", b"x.h", b"\n"),
       (b"a\tb\r.cu", b"-Iinc2/./././../inc2", b"x.h", b"\xff\xff"), (LONG * 72 + b".cu", b"-Iinc2", b"x.h", b"m.h")]
# A job: what is compiled, in which world (directory with headers), by which build of the fake.
PLAIN = [("plain", "A", "13"), ("plain", "B", "13")]
BLOCKS = [("blocks", "A", "13"), ("blocks", "B", "13"), ("blocks", "C", "13"), ("blocks", "A", "13b")]
ODD_JOBS = [[(number, world, "13") for world in "ABC"] for number in range(len(ODD))]


class Stage:
    def __init__(self, base, build):
        self.base, self.build, self.jobs_done, self.tests, self.failed = base, build, 0, 0, 0
        self.cache, self.template = self.path("cache"), self.path("template")
        self.printed = os.open(self.path("printed"), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if not os.path.exists(self.path("A")):
            for world, header in (("A", "first"), ("B", "other"), ("C", "first")):
                for directory in (b"inc1", b"inc2/%s", b"inc1\n\xff"):
                    os.makedirs(os.path.join(os.fsencode(self.path(world)), directory))
                for path in (b"inc2/x.h", b"inc2/\xe9.h", b"inc1\n\xff/x.h"):
                    put_file(os.path.join(os.fsencode(self.path(world)), path), f"int {header};\n".encode())
            put_file(self.path("C/inc1/x.h"), b"int early;\n")
            time.sleep(0.1)  # a result that depends on headers as new as the compile is not cached
        self.expected = None
        if os.path.exists(self.path("expected")):
            with open(self.path("expected"), "rb") as file:
                self.expected = pickle.load(file)

    def path(self, name):
        return os.path.join(self.base, name)

    def see(self, job):
        """All that a host can see of a job."""
        what, world, flavour = job
        os.chdir(self.path(world))
        library = ctypes.CDLL(f"{self.build}/tests/fake/{flavour}/libnvrtc.so.13")
        name, source, memory_header = "program.cu", SOURCE, b"m.h"
        options = ["-arch=sm_90", "-Iinc1", "-Iinc2"] + ["--fake-pad=9000"] * (what == "blocks")
        if isinstance(what, int):
            name, include, header, memory_header = ODD[what]
            source = b'#include "%s"\n#include "%s"\nint k;\n' % (header, header if b"\n" in memory_header else memory_header)
            options[1:] = [include]
        program = Program(library, source, name, ["k<1>"], [(memory_header, "int in_memory;\n")])
        seen = [program.compile(options), *(program.get(product) for product in ("PTX", "CUBIN", "ProgramLog")),
                program.lowered("k<1>"), program.destroy()]
        return seen, library

    def be_host(self, jobs, variables, out):
        os.dup2(self.printed, 1)
        os.dup2(self.printed, 2)
        signal.alarm(600)
        for name in (b"HOME", b"XDG_CACHE_HOME", b"LD_PRELOAD"):
            os.environb.pop(name, None)
        os.environ["NVRTCCACHE_DIR"] = self.cache
        for variable in variables:
            name, given, value = variable.partition(b"=")
            os.environb.pop(name, None)
            if given:
                os.environb[name] = value.replace(b"@", os.fsencode(self.base))
        before, all_seen, libraries = len(os.listdir("/proc/self/fd")), [], {}
        for job in jobs:
            seen, libraries[job[2]] = self.see(job)
            all_seen.append(seen)
        compiles = sum(library.fakeNvrtcCompiles() for library in libraries.values())
        result = pickle.dumps((all_seen, compiles, len(os.listdir("/proc/self/fd")) - before))
        while result:
            result = result[os.write(out, result):]
        ctypes.CDLL(None).exit(0)  # as a C program ends

    def run(self, jobs, variables=()):
        """(what is wrong or None, how often NVRTC itself compiled)"""
        self.jobs_done += len(jobs)
        ends = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self.be_host(jobs, variables, ends[1])
            finally:
                os._exit(70)
        os.close(ends[1])
        with os.fdopen(ends[0], "rb") as file:
            result = file.read()
        _, status = os.waitpid(child, 0)
        printed = os.lseek(self.printed, 0, os.SEEK_END)
        os.ftruncate(self.printed, 0)
        if os.WIFSIGNALED(status):
            return ("the host hung" if os.WTERMSIG(status) == signal.SIGALRM else "a signal ended the host"), 0
        if status != 0 or printed:
            return "the host's exit code is another" if status else "something was printed", 0
        seen, compiles, opened = pickle.loads(result)
        if self.expected is not None and seen != [self.expected[job] for job in jobs]:
            return "the host got something else than NVRTC gives", compiles
        return "a descriptor was left open" if opened else None, compiles

    def examine(self, jobs, hits=True, files=True, variables=()):
        """Two hosts; then what is left of others goes in due time, and the counters make sense."""
        for _ in range(2):
            wrong, compiles = self.run(jobs, variables)
            if wrong:
                return wrong
        if hits and compiles:
            return "what was stored is not found"
        return self.examine_files() if files else None

    def command(self, *words):
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        return subprocess.run([f"{self.build}/nvrtccache", *words], env=dict(environment, NVRTCCACHE_DIR=self.cache), check=True,
                              capture_output=True).stdout

    def examine_files(self):
        for directory, _, names in os.walk(self.cache):
            for name in names:
                if name.startswith("tmp."):
                    age(os.path.join(directory, name), 7200)
        self.command("prune")
        if any(name.startswith("tmp.") for _, _, names in os.walk(self.cache) for name in names):
            return "a temporary file stays for ever"
        counters = json.loads(self.command("stats", "--json"))
        if counters["hits_memory"] + counters["hits_disk"] + counters["misses"] > self.jobs_done:
            return "more was counted than was done"
        return None

    def renew(self):
        self.jobs_done = 32  # at most, when a directory is made
        remove(self.cache)
        shutil.copytree(self.template, self.cache, symlinks=True)

    def result(self, wrongs, sentence):
        self.tests += 1
        self.failed += bool(wrongs)
        for wrong in wrongs:
            print("#", wrong.encode("ascii", "backslashreplace").decode())
        print("not ok" if wrongs else "ok", "-", sentence.encode("ascii", "backslashreplace").decode().replace("#", "?"), flush=True)


def put_file(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return True


def age(path, seconds):
    os.utime(path, (time.time() - seconds,) * 2, follow_symlinks=False)


def remove(path):
    if not os.path.lexists(path):
        return
    if stat.S_ISDIR(os.lstat(path).st_mode):
        os.chmod(path, 0o700)  # before it is read: only root reads what has no permission
        for directory, names, _ in os.walk(path):
            for name in names:
                if not os.path.islink(os.path.join(directory, name)):
                    os.chmod(os.path.join(directory, name), 0o700)
        shutil.rmtree(path)
    else:
        os.unlink(path)


def is_result(name):
    return len(name) == len("v1/ab/") + 62


def files_below(path):
    """name: content, of the plain files"""
    found = {}
    for directory, _, names in os.walk(path):
        for inner in (os.path.join(directory, name) for name in names):
            if stat.S_ISREG(os.lstat(inner).st_mode):
                with open(inner, "rb") as file:
                    found[os.path.relpath(inner, path)] = file.read()
    return found


# ---- a power cut

TEARS = ["empty", "cut", "zero tail", "zero block", "old tail", "alien block"]


def torn(now, old, tear, block):
    """The file as it may be after the power came back; None: not a state of its own."""
    at = block * BLOCK
    length = min(BLOCK, len(now) - at)
    if tear == "old tail":
        return now[:at] + old[at:] if old is not None and at < len(old) else None
    return {"empty": b"", "cut": now[:at], "zero tail": now[:at] + bytes(len(now) - at),
            "zero block": now[:at] + bytes(length) + now[at + length:],
            "alien block": now[:at] + b"x" * length + now[at + length:]}[tear]


def tear_file(stage, name, now, old, stride, temporary):
    states, wrongs = 0, []
    target = name[:6] + "tmp.1.0123456789abcdef" if temporary else name  # the rename did not reach the disk
    for number, tear in enumerate(TEARS):
        for block in range(1 if tear == "empty" else -(-len(now) // BLOCK)):
            content = torn(now, old, tear, block)
            # files of notes are long and alike
            if content is None or (block and (block + number) % (stride if len(now) > 32768 else 1)):
                continue
            stage.renew()
            put_file(os.path.join(stage.cache, target), content)
            # what begins with other bytes than an entry is not known for ours, and stays
            wrong = stage.examine(BLOCKS, files=not (temporary and tear == "alien block" and block == 0))
            wrongs += [f"{target}, {tear} at block {block}: {wrong}"] if wrong else []
            states += 1
    stage.result(wrongs, f"a power cut leaves a part of {'a result' if is_result(name) else name}"
                         f"{' and no result' if temporary else ''}: {states} states")


def tear_together(stage, files, before):
    ways = [lambda now, old: now, lambda now, old: None, lambda now, old: old, lambda now, old: b"", lambda now, old: bytes(len(now))]
    states, wrongs, names = 0, [], sorted(files)
    for i, one in enumerate(names):
        for other in names[i + 1:]:
            for number in range(len(ways) ** 2):
                stage.renew()
                for name, way in ((one, number // len(ways)), (other, number % len(ways))):
                    content = ways[way](files[name], before.get(name))
                    remove(os.path.join(stage.cache, name))
                    if content is not None:
                        put_file(os.path.join(stage.cache, name), content)
                wrong = stage.examine(BLOCKS)
                wrongs += [f"{one}, {other}, {number}: {wrong}"] if wrong else []
                states += 1
    stage.result(wrongs, f"a power cut leaves two files as they were, empty, zeroed or not there: {states} states")


def torn_files(stage, stride):
    """One key, whose file held the result of one header and now holds that of another before it."""
    made = [stage.run([BLOCKS[1]])[0]]
    before = files_below(stage.cache)
    made.append(stage.run([BLOCKS[0]])[0])
    files = files_below(stage.cache)
    if any(made) or len(files) < 5:
        stage.result([f"{made} {sorted(files)}"], "a directory is made")
        return
    os.rename(stage.cache, stage.template)
    for name, now in sorted(files.items()):
        if now:
            tear_file(stage, name, now, before.get(name), stride, False)
        if is_result(name):
            tear_file(stage, name, now, before.get(name), stride, True)
    tear_together(stage, files, before)
    wrongs = []
    for directory in ("v1", next(name for name in files if is_result(name))[:5]):
        stage.renew()
        remove(os.path.join(stage.cache, directory))
        wrong = stage.examine(BLOCKS)
        wrongs += [f"{directory}: {wrong}"] if wrong else []
    stage.result(wrongs, "a power cut takes a directory: 2 states")


# ---- other things in the places of ours

def make_socket(path):
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as holder:
        holder.bind("s")
    os.rename("s", path)


def make_full(path):
    os.mkdir(path)
    put_file(os.path.join(path, "tmp.kept"), b"kept")


def make_huge(path):
    put_file(path, b"")
    os.truncate(path, 1 << 40)


def kinds(outside):
    """name: how it is made; those of the second half change what is there"""
    return {
        "nothing": lambda path: None, "a FIFO": os.mkfifo, "a link to a FIFO": lambda path: os.symlink(f"{outside}/fifo", path),
        "a link to a device": lambda path: os.symlink("/dev/zero", path),
        "a link to a file": lambda path: os.symlink(f"{outside}/victim", path),
        "a link to a directory": lambda path: os.symlink(outside, path),
        "a link to nothing": lambda path: os.symlink(f"{outside}/none", path),
        "a hard link to a file": lambda path: os.link(f"{outside}/other", path), "a socket": make_socket,
        "a device": lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5)), "an empty directory": os.mkdir,
        "a full directory": make_full, "an empty file": lambda path: put_file(path, b""),
        "garbage": lambda path: put_file(path, b"garbage of some length, but not of much"), "a huge file with a hole": make_huge,
    }, {
        "writable by all": lambda path: os.chmod(path, 0o777), "another user's": lambda path: os.lchown(path, 12345, 12345),
        "without any permission": lambda path: os.chmod(path, 0),
    }


def odd_places(stage, _stride):
    outside = stage.path("outside")
    wrong, _ = stage.run(PLAIN)
    if wrong:
        stage.result([wrong], "a directory is made")
        return
    names = sorted(files_below(stage.cache))
    directories = ["", "v1"] + sorted({name[:5] for name in names if is_result(name)})
    os.rename(stage.cache, stage.template)
    instead, changed = kinds(outside)
    for kind, make in (instead | changed).items():
        tried, wrongs = 0, []
        for name in directories + names:
            place = os.path.join(stage.cache, name).rstrip("/")
            stage.renew()
            remove(outside)
            os.mkdir(outside)
            put_file(f"{outside}/victim", b"victim")
            put_file(f"{outside}/other", b"other")
            age(f"{outside}/victim", 100000)
            os.mkfifo(f"{outside}/fifo")
            before = os.lstat(f"{outside}/victim")
            if kind in instead:
                remove(place)
            try:
                make(place)
            except OSError:
                continue  # it cannot be made here
            # results are found whatever stands in the place of a file, not where it stands in that of a directory
            hits = kind == "nothing" or (name in names and not (is_result(name) and kind == "a full directory"))
            wrong, after = stage.examine(PLAIN, hits, files=False), os.lstat(f"{outside}/victim")
            if not wrong and ((before.st_mtime_ns, before.st_mode, before.st_size) != (after.st_mtime_ns, after.st_mode, after.st_size)
                              or files_below(outside).get("victim") != b"victim"):
                wrong = "a file outside was changed"
            wrongs += [f"{name or 'the root'} is {kind}: {wrong}"] if wrong else []
            tried += 1
        stage.result(wrongs, f"{kind} in each place of ours: {tried} places" if tried else
                     f"{kind} in each place of ours # SKIP it cannot be made here")
    remove(outside)


# ---- settings and names

# "@" is the stage's directory, a name alone is unset; does a second process find what the first one stored?
SETTINGS = [
    ([b"NVRTCCACHE_DIR=@/cache"], True),
    ([b"NVRTCCACHE_DIR=@/cache/new\nline \xff\xfe\t%s%n"], True),
    ([b"NVRTCCACHE_DIR=@/cache/../cache/./deep//er/"], True),
    ([b"NVRTCCACHE_DIR=relative"], False),
    ([b"NVRTCCACHE_DIR=../cache"], False),
    ([b"NVRTCCACHE_DIR=~/cache"], False),
    ([b"NVRTCCACHE_DIR=/dev/null"], False),
    ([b"NVRTCCACHE_DIR=/dev/null/under"], False),
    ([b"NVRTCCACHE_DIR=/proc/self/fd"], False),
    ([b"NVRTCCACHE_DIR=/proc/self/under"], False),
    ([b"NVRTCCACHE_DIR=@/fifo"], False),
    ([b"NVRTCCACHE_DIR=@/fifo/under"], False),
    ([b"NVRTCCACHE_DIR=@/file"], False),
    ([b"NVRTCCACHE_DIR", b"HOME", b"XDG_CACHE_HOME"], False),
    ([b"NVRTCCACHE_DIR=", b"HOME=", b"XDG_CACHE_HOME="], False),
    ([b"NVRTCCACHE_DIR", b"HOME=relative", b"XDG_CACHE_HOME=relative"], False),
    ([b"NVRTCCACHE_DIR", b"HOME=@/cache/h\n\xff", b"XDG_CACHE_HOME"], False),
    ([b"NVRTCCACHE_DIR", b"HOME=@/cache", b"XDG_CACHE_HOME"], True),
    ([b"NVRTCCACHE_DIR", b"HOME=@/cache", b"XDG_CACHE_HOME=@/cache/\xc3("], True),
    ([b"NVRTCCACHE_LOWER="], True),
    ([b"NVRTCCACHE_LOWER=:::"], True),
    ([b"NVRTCCACHE_LOWER=relative:..:~"], True),
    ([b"NVRTCCACHE_LOWER=@/fifo:/dev/zero:/dev/null:@/file:/proc/self/fd:@/none"], True),
    ([b"NVRTCCACHE_LOWER=@/new\nline\xff:\xff\xfe:%s%n"], True),
    ([b"NVRTCCACHE_LOWER=@/a:@/b:@/c:@/d:@/e:@/f:@/g:@/h:@/i:@/j:@/k"], True),
    ([b"NVRTCCACHE_LOWER=@/cache"], True),
    ([b"NVRTCCACHE_LOG=@/fifo", b"NVRTCCACHE_LOG_LEVEL=debug"], True),
    ([b"NVRTCCACHE_LOG=/dev/full", b"NVRTCCACHE_LOG_LEVEL=debug"], True),
    ([b"NVRTCCACHE_LOG=@/none/log", b"NVRTCCACHE_LOG_LEVEL=debug"], True),
    ([b"NVRTCCACHE_LOG=@/cache/log\n\xff", b"NVRTCCACHE_LOG_LEVEL=debug"], True),
    ([b"NVRTCCACHE_LOG=@", b"NVRTCCACHE_LOG_LEVEL=\xff"], True),
    ([b"NVRTCCACHE_TRACE=@/fifo"], True),
    ([b"NVRTCCACHE_TRACE=/dev/full"], True),
    ([b"NVRTCCACHE_TRACE=@/none/trace"], True),
    ([b"NVRTCCACHE_TRACE=@"], True),
    ([b"NVRTCCACHE_MAX_SIZE=\xff", b"NVRTCCACHE_MEM_SIZE=-1", b"NVRTCCACHE_WAIT=-5"], True),
    ([b"NVRTCCACHE_MAX_SIZE=99999999999999999999T", b"NVRTCCACHE_MEM_SIZE=1", b"NVRTCCACHE_WAIT=1e9"], True),
    ([b"NVRTCCACHE_MAX_SIZE=1", b"NVRTCCACHE_MEM_SIZE=0"], False),
    ([b"NVRTCCACHE_NAMESPACE=\n\xff\xfe%s%n"], True),
    ([b"NVRTCCACHE_SLOPPINESS=\xff,,time_macros,\n"], True),
]


def odd_names(stage, _stride):
    os.mkfifo(stage.path("fifo"))
    put_file(stage.path("file"), b"file")
    wrongs = []
    for jobs in ODD_JOBS:
        stage.jobs_done = 32
        remove(stage.cache)
        wrong = stage.examine(jobs, hits=jobs is not ODD_JOBS[-1])  # its name is no path
        wrongs += [f"odd names {jobs[0][0]}: {wrong}"] if wrong else []
    stage.result(wrongs, 'names of programs and headers with newlines, "..", bytes that are no UTF-8: each right, then a hit')
    remove(stage.cache)
    wrong, _ = stage.run([job for jobs in ODD_JOBS for job in jobs])
    stage.result([wrong] if wrong else [], "odd names in one process are not taken for one another")
    for variables, hits in SETTINGS:
        remove(stage.cache)
        os.mkdir(stage.cache, 0o700)
        (wrong, _), (second, compiles) = stage.run(PLAIN[:1], variables), stage.run(PLAIN[:1], variables)
        wrong = wrong or second
        if not wrong and (compiles == 0) != hits:
            wrong = "what was stored is not found" if hits else "something was stored"
        if not wrong and os.path.lexists(stage.path("A/relative")):
            wrong = "a relative directory was made"
        stage.result([wrong] if wrong else [], f"{variables[0].decode('latin-1')!r}{' and so on' if len(variables) > 1 else ''} is "
                     f"{'taken or passed over' if hits else 'no directory to use'}, and harms nobody")


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: states.py expect|torn|places|names BASE BUILD [STRIDE]")
    what, stage = sys.argv[1], Stage(os.path.realpath(sys.argv[2]), os.path.realpath(sys.argv[3]))
    if what == "expect":
        with open(stage.path("expected"), "wb") as file:
            pickle.dump({job: stage.see(job)[0] for job in PLAIN + BLOCKS + sum(ODD_JOBS, [])}, file)
        return
    remove(stage.cache)
    remove(stage.template)
    {"torn": torn_files, "places": odd_places, "names": odd_names}[what](stage, int((sys.argv + ["1"])[4]))
    print(f"1..{stage.tests}")
    sys.exit(bool(stage.failed))


main()
