# SPDX-License-Identifier: MIT
"""Makes sequences of calls of NVRTC at random (random_calls.py).

A world is a few programs, a few sets of options and headers in a few versions, so that sequences meet again. A sequence
is a list of calls, each a tuple; a Life takes one call after the other and tells the player's commands for it, or None
where a host must not make that call then. So a sequence can be cut anywhere and go on another way.
"""

SLOTS = 4
SETTLE = "settle 40"  # the kernel's clock for file times is 10 ms late at most, twice that counts as too new
DIRECTORIES = ["@T/d0", "@T/d1", "@T/c0", "@T/c0/sub", "@T/c1"]
FILES = ["@T/d0/h.h", "@T/d1/h.h", "@T/c0/h.h", "@T/c0/sub/h.h", "@T/c0/first.h"]
LOOSE = ("-v", "--verbose", "=-v")  # what ptxas then says has a run time in it

SPOILS = """#ifdef SYNTAX
nonsense ;
#endif
#ifdef MISSING
#include "nowhere.h"
#endif
#if defined(PTXAS)
#define SPOIL __shared__ int big[100000]; big[p[3]] = 1; __syncthreads(); p[4] = big[p[5]];
#elif defined(BADASM)
#define SPOIL asm("such.an.instruction %0;" : : "r"(*p));
#elif defined(WARN)
#define SPOIL int unused;
#else
#define SPOIL
#endif
#ifndef X
#define X 0
#endif
"""
KERNEL = 'extern "C" __global__ void k(int *p) {{ p[0] = {0} + X; SPOIL }}\n'
SOURCES = {
    "plain": SPOILS + KERNEL,
    "names": SPOILS + KERNEL + """template <class T> __global__ void t(T *p) {{ *p = {0} + X; }}
__device__ int v = X;
__constant__ float c[3];
namespace n {{ __global__ void f(int *p) {{ *p = {0}; }} }}
#ifdef ONE
__global__ void one(int *p) {{ *p = 1; }}
#endif
""",
    "memory": '#include "m.h"\n' + SPOILS + KERNEL + "__device__ int m = M;\n",
    "disk": SPOILS + '#if __has_include("h.h")\n#include "h.h"\n#endif\n#ifndef H\n#define H 0\n#endif\n'
            + KERNEL + "__device__ int h = H;\n",
    # nothing external: NVRTC makes a module id, new in every process
    "alone": SPOILS + "namespace {{ template <class T> __global__ void t(T *p) {{ *p = {0} + X; }} }}\n",
    "calls": SPOILS + "__device__ __noinline__ int half(int a) {{ return a / 2 + X; }}\n"
             'extern "C" __global__ void k(int *p) {{ *p = half(p[1]) + {0}; SPOIL }}\n',
    "bare": SPOILS + "int helper(int a) {{ return a + X; }}\n"
            'extern "C" __global__ void k(int *p) {{ *p = helper(p[1]) + {0}; SPOIL }}\n',
    "file": SPOILS + KERNEL + "__device__ const char *file() {{ return __FILE__; }}\n",
    "sine": SPOILS + KERNEL + "__device__ double s = __builtin_sin(X + {0}.5);\n",
    "empty": "",
}
EXPRESSIONS = {
    "names": ["t<int>", "t<int>", "t<float>", "t<\\_int\\_>", "&v", "v", "&c", "n::f", "k", "&k", "one", "t<long>"],
    "alone": ["t<int>", "t<float>", "t<\\_int\\_>"],
    "file": ["k", "file"],
    "sine": ["&s", "k"],
}
BAD_EXPRESSIONS = ["nope<int>", "\\e", "t<", "nobody"]

TARGETS = ["-arch=sm_80", "-arch=sm_80", "-arch=sm_75", "-arch=compute_80", "-arch=compute_80", "-arch=compute_75", "",
           "-arch sm_80", "--gpu-architecture=sm_80", "--gpu-architecture compute_75", "-arch=sm_86", "-arch=sm_90"]
MORE = ["-dlto", "-dlto", "-optix-ir", "-lineinfo", "-lineinfo", "--generate-line-info", "-G", "--device-debug", "-w",
        "--disable-warnings", "-rdc=true", "--relocatable-device-code true", "-dc", "--device-c", "-ewp", "-ftz=true",
        "--ftz=false", "-use_fast_math", "--fmad=false", "--fmad true", "-maxrregcount=16", "--maxrregcount 32",
        "-default-device", "-default-device", "--device-as-default-execution-space", "-std=c++11", "-std=c++14",
        "--std=c++17", "-std=c++20", "-std=c++03", "-minimal", "--minimal", "-no-cache", "-Xptxas -O1",
        "--ptxas-options=-O3", "-Xptxas -v", "--ptxas-options=-v", "--ptxas-options --verbose",
        "-fdevice-syntax-only", "-frandom-seed=7", "-diag-suppress=177", "-diag-error=177", "-no-err-no",
        "-brief-diag=true", "-device-int128", "--extra-device-vectorization", "--dopt=on",
        "-DX=1", "-DX=1", "-DX=2", "-DX", "-D X=1", "-D=X=2", "--define-macro=X=1", "--define-macro X=2", "-DX=1 -UX",
        "-UX -DX=1", "-DX=1 -DX=2", "-UX", "-U X", "-DX=", "-DWARN", "-DWARN", "-DONE", "-DONE", "-DSYNTAX",
        "-DSYNTAX", "-DMISSING", "-DPTXAS", "-DPTXAS", "-DBADASM", "-DNOTE=__TIME__", "-DNOTE=__TIME__",
        "-I@T/d0", "-I@T/d0", "-I@T/d1", "-I @T/d0", "-I../d1", "--include-path=@T/d1", "-I@T/d0 -I@T/d1",
        "-I@T/d1 -I@T/d0", "-I@T/nowhere", "--pre-include=first.h", "-include first.h", "--pre-include=@T/c0/first.h",
        "--no-source-include"]
REFUSED = ["--bogus", "-arch=sm_12", "-arch=SM_80", "--arch=sm_80", "-arch= sm_80", "-arch\\_sm_80", "--std c++17",
           "-std=c++99", "\\e", "\\_", "@file", "-D1X=1", "-optix-ir -dlto", "-I", "-maxrregcount=many"]
PRODUCTS = ["PTX", "CUBIN", "NVVM", "LTOIR", "OptiXIR", "TileIR", "ProgramLog"]


def header(path, version):
    if "first" in path:
        return f"#define X {version + 5}\n"
    if version == 3:
        return "#error the header says no\n"
    # of one size, so that only times and content tell them apart
    return f"#define H {FILES.index(path)}{version}\n" + ("#pragma once\n" if version == 2 else "#pragma  one\n")


class Program:
    def __init__(self, kind, number, name, memory, scribbled):
        self.kind, self.scribbled = kind, scribbled
        self.expressions = EXPRESSIONS.get(kind, ["k"])
        self.commands = [f"name {name}", f"source <<\n{SOURCES[kind].format(number)}END"]
        self.commands += [f"header {each} <<\n{text}END" for each, text in memory]


class World:
    """What sequences are made of for a while."""

    def __init__(self, rng, number, release):
        self.rng, self.release = rng, release
        self.programs, self.late = [], 0
        # Half of the worlds are about headers that change under a handle.
        self.headers = number % 2 == 1
        kinds = rng.sample(sorted(SOURCES), 2) + ["names", "memory"]
        kinds = ["disk"] * self.headers + rng.sample(kinds, rng.choice([1, 2] if self.headers else [2, 3, 3]))
        for place, kind in enumerate(kinds):
            for _ in range(rng.choice([1, 1, 2])):
                name = rng.choice(["NULL", "NULL", "k.cu", "k.cu", "sub/k.cu", "@T/c0/k.cu", "../c0/k.cu"])
                memory = [("m.h", f"#define M {rng.choice([1, 2])}\n")] if kind == "memory" else []
                if kind == "disk" and rng.random() < 0.3:
                    memory = [("h.h", f"#define H {rng.choice([1, 2])}\n"), ("unused.h", "nonsense\n")]
                self.programs.append(Program(kind, 1000 + number * 10 + place, name, memory, rng.random() < 0.3))
        self.options = [self.make_options() for _ in range(7)]
        self.files = {path: rng.choice([0, 0, 0, 1, 2, None]) for path in FILES}
        self.files["@T/c0/first.h"] = 0
        self.cwd = rng.choice(["@T/c0", "@T/c0", "@T/c1"])
        self.sequences = []

    def make_options(self):
        rng = self.rng
        words = [rng.choice(TARGETS)] + rng.sample(MORE, rng.choice([0, 0, 1, 1, 1, 2, 2, 3]))
        if self.headers and rng.random() < 0.5:
            words = [rng.choice(TARGETS), rng.choice(["-I@T/d0", "-I@T/d0", "-I@T/d1"])]
        if rng.random() < 0.1:
            words.append(rng.choice(REFUSED))
        rng.shuffle(words)
        return " ".join(filter(None, words))

    # Calls.

    def call(self, life):
        """Any call; not every one can be made now."""
        rng = self.rng
        kind = rng.choices(["create", "use", "destroy", "compile", "add", "lowered", "get", "callback", "edit", "other"],
                           [7, 7, 3, 30, 9, 8, 20, 4, 18 if self.headers else 4, 6])[0]
        return getattr(self, f"call_{kind}")(life)

    def call_create(self, life):
        # a slot that has a program is taken rarely: the program in it is never destroyed
        free = [slot for slot in range(SLOTS) if not life.alive(slot)]
        slot = self.rng.choice(free if free and self.rng.random() < 0.9 else range(SLOTS))
        if self.rng.random() < 0.06:
            return ("create-badly", self.rng.choice(["source", "twice", "names", "count", "nowhere"]))
        return ("create", slot, self.rng.randrange(len(self.programs)))

    def call_use(self, life):
        alive = [slot for slot in range(SLOTS) if life.alive(slot)]
        return ("use", self.rng.choice(alive if alive and self.rng.random() < 0.95 else range(SLOTS)))

    def call_destroy(self, _):
        return (self.rng.choice(["destroy"] * 6 + ["destroy-null", "destroy-empty"]),)

    def call_compile(self, life):
        rng = self.rng
        options = rng.choice(self.options) if rng.random() < 0.85 else self.make_options()
        form = rng.random()
        if form < 0.86:
            return ("compile", options)
        if form < 0.90:
            return ("elsewhere", rng.choice(["thread", "child"]), options)
        if form < 0.93:
            self.late += 1
            return ("stop-late", rng.choice([2, 3, 5, 10]), f"{options} -DLATE={self.late}")
        if form < 0.96:
            return ("compile", rng.choice(REFUSED + ["NULL"]))
        count = rng.choice([-1, 0, 1, len(options.split())])
        return ("compile-count", count, options) if rng.random() < 0.8 else ("compile-null",)

    def expression(self, life):
        program = life.program()
        known = self.programs[program.number].expressions if program else ["k"]
        return self.rng.choice(known if self.rng.random() < 0.93 else BAD_EXPRESSIONS + ["NULL"])

    def call_add(self, life):
        return ("add", self.expression(life))

    def call_lowered(self, life):
        return ("lowered", self.expression(life))

    def call_get(self, _):
        rng = self.rng
        return rng.choice([("all",), ("all",), ("sizes",), ("code",), ("null",), ("get", rng.choice(PRODUCTS)),
                           ("thread", "all"), ("child", "all")])

    def call_callback(self, _):
        return ("callback", self.rng.choice(["none", "none", "1", "NULL"]))

    def call_edit(self, _):
        rng, path = self.rng, self.rng.choice(FILES + FILES[:1] * 2)
        if rng.random() < 0.2:
            return ("chdir", rng.choice(["@T/c0", "@T/c1"]))
        return ("edit", path, rng.choice([0, 1, 1, 2, 2, 3, None]), rng.random() < 0.7, rng.random() < 0.85)

    def call_other(self, _):
        return self.rng.choice([("errors", "-1", "19"), ("version",), ("architectures",), ("heap",), ("called",),
                                ("bundled", "info", "here")])

    # Sequences.

    def sequence(self):
        """-> (how it was made, calls, a Life after them)"""
        rng = self.rng
        how = rng.choices(["new", "prefix", "changed", "again"], [3, 6, 3, 2])[0] if self.sequences else "new"
        old = rng.choice(self.sequences[-6:] if rng.random() < 0.7 else self.sequences) if self.sequences else []
        calls = list(old)
        if how == "prefix":
            calls = calls[:rng.randint(1, len(calls))]
        elif how == "changed":
            for _ in range(rng.choice([1, 1, 2])):
                at = rng.randrange(len(calls))
                if rng.random() < 0.5:
                    del calls[at]
                else:
                    calls.insert(at, self.call(self.lived(calls[:at])))
                calls = calls or list(old)
        elif how == "new":
            calls = [("create", 0, rng.randrange(len(self.programs)))]
        length = rng.randint(5, 16) if how in ("new", "prefix") else 0
        life, made = self.lived([]), []
        for call in calls:
            self.go(life, call, made)
        while len(made) < length:
            self.go(life, self.call(life), made)
        self.sequences = (self.sequences + [made])[-20:]
        return how, made, life

    def lived(self, calls):
        life = Life(self)
        for call in calls:
            life.take(call)
        return life

    @staticmethod
    def go(life, call, made):
        if life.take(call) is not None:
            made.append(call)


class Handle:
    def __init__(self, number, loose):
        self.number, self.names = number, []
        self.loose = loose  # the length of what it holds may differ from process to process


class Life:
    """The host in the middle of a sequence: what it holds, and so which calls it can make."""

    def __init__(self, world):
        self.world, self.slots, self.current = world, {}, 0
        self.commands, self.files, self.kinds, self.counted = [], dict(world.files), set(), False

    def alive(self, slot):
        return isinstance(self.slots.get(slot), Handle)

    def program(self):
        return self.slots[self.current] if self.alive(self.current) else None

    def take(self, call):
        commands = getattr(self, "take_" + call[0].replace("-", "_"), self.take_any)(*call)
        self.commands += commands or []
        return commands

    def end(self):
        """Everything once more, and the end."""
        commands = []
        for slot in [slot for slot in range(SLOTS) if self.alive(slot)]:
            commands += [f"use {slot}", "all"] + [f"lowered {name}" for name in sorted(set(self.slots[slot].names))]
            commands += ["destroy"]
        return commands

    def take_create(self, _, slot, number):
        program = self.world.programs[number]
        # up to 12.4 the numbers of calls go on counting; module ids have the process's number in them
        self.slots[slot] = Handle(number, program.kind in ("calls", "alone"))
        self.current = slot
        self.kinds.add(program.kind)
        return [*program.commands, f"create {slot}", *(["scribble"] if program.scribbled else [])]

    def take_create_badly(self, _, how):
        kernel = "source <<\n" + SOURCES["plain"].format(1) + "END"
        return {
            "source": ["source NULL", "create"],
            "twice": [kernel, "header a.h <<\nEND", "header a.h <<\nEND", "create"],
            "names": [kernel, "header a.h <<\nEND", "create-with 1 given NULL"],
            "count": [kernel, "create-with -1 given given"],
            "nowhere": [kernel, "create-nowhere"],
        }[how]

    def take_use(self, _, slot):
        if not self.alive(slot) and slot in self.slots:
            return None  # destroyed
        self.current = slot
        return [f"use {slot}"]

    def take_destroy(self, _):
        if not self.program():
            return None
        self.slots[self.current] = None
        return ["destroy"]

    def take_destroy_null(self, verb):
        return [verb]

    take_destroy_empty = take_destroy_null

    def take_compile(self, verb, options):
        if not self.program():
            return None
        self.program().loose |= any(word.endswith(LOOSE) for word in options.split())
        return [f"{verb} {options}"]

    def take_elsewhere(self, _, where, options):
        return self.take_compile(f"{where} compile", options)

    def take_compile_count(self, verb, count, options):
        return self.take_compile(verb, f"{count} {options}") if count <= len(options.split()) else None

    def take_compile_null(self, verb):
        return [verb]

    def take_stop_late(self, _, calls, options):
        commands = self.take_compile("compile", options)
        return commands and [f"callback {calls}", *commands, "callback none"]

    def take_callback(self, verb, calls):
        self.counted |= calls != "NULL" and self.current in self.slots
        return self.take_any(verb, calls)

    def take_called(self, verb):
        return [verb] if self.counted else None

    def null_refused(self):
        """Older releases crash over a null expression, and over a name asked of no program."""
        return self.world.release >= (12, 4)

    def take_add(self, verb, expression):
        if not self.program() or (expression == "NULL" and not self.null_refused()):
            return None
        self.program().names.append(expression)
        return [f"{verb} {expression}"]

    def take_lowered(self, verb, expression):
        null = expression == "NULL" or not self.program()
        return None if null and not self.null_refused() else self.take_any(verb, expression)

    def take_sizes(self, verb):
        return self.take_any("all" if self.program() and self.program().loose else verb)

    def take_edit(self, _, path, version, aged, settled):
        if self.files[path] is None and version is None:
            return None
        self.files[path] = version
        if version is None:
            commands = [f"unlink {path}"]
        else:
            commands = [f"write {path} <<\n{header(path, version)}END"] + [f"age {path} {version}"] * aged
        return commands + [SETTLE] * settled

    def take_any(self, *words):
        """Whatever asks, or changes nothing that matters here."""
        if words[0] not in ("errors", "version", "architectures", "heap", "bundled", "chdir") and \
                not self.alive(self.current) and self.current in self.slots:
            return None
        return [" ".join(words)]


def plant(now, wanted):
    """From the headers of one moment to those of another."""
    commands = []
    for path in FILES:
        if now.get(path) != wanted[path]:
            commands += [f"unlink {path}"] if wanted[path] is None else \
                [f"write {path} <<\n{header(path, wanted[path])}END", f"age {path} {wanted[path]}"]
    return commands + [SETTLE] * bool(commands)
