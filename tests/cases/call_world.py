# SPDX-License-Identifier: MIT
"""Makes sequences of calls of NVRTC at random (random_calls.py).

A world is a few programs, a few sets of options and headers in a few versions, many of them alike but for one thing,
so that sequences meet again: one begins as another did and goes on another way, or differs from it in one call. A call
is a kind and a number, of which call_life.py makes the player's commands, the same where the host is in the same state.
"""
from call_life import FILES, REFUSED, Life

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
NAMES = ["NULL", "NULL", "k.cu", "k.cu", "sub/k.cu", "@T/c0/k.cu", "../c0/k.cu"]


class Program:
    def __init__(self, kind, number, name, memory):
        self.kind = kind
        self.expressions = EXPRESSIONS.get(kind, ["k"])
        self.commands = [f"name {name}", f"source <<\n{SOURCES[kind].format(number)}END"]
        self.commands += [f"header {each} <<\n{text}END" for each, text in memory]


class World:
    """What sequences are made of for a while."""

    def __init__(self, rng, release):
        self.rng, self.release = rng, release
        self.programs = []
        # Half of the worlds are about headers that change under a handle.
        self.headers = rng.random() < 0.5
        # before 12.8 the numbers of calls, in comments of PTX and so in a CUBIN, go on counting through a process
        kinds = sorted(kind for kind in SOURCES if kind != "calls" or release >= (12, 8))
        kinds = ["disk" if self.headers else "names", rng.choice(["memory", rng.choice(kinds)])]
        for place, kind in enumerate(kinds):
            self.programs += self.twins(kind, 1000 + place)
        self.options = []
        for _ in range(2):
            words = self.make_options(rng)
            self.options += [words, self.other_options(words)]
        if self.headers:  # what reads no header, after what does
            self.options[-1] = rng.choice(["-arch=compute_80", "-arch=compute_75 -w", "-arch=compute_80 -DMISSING"])
        self.files = {path: rng.choice([0, 0, 0, 1, 2, None]) for path in FILES}
        self.files["@T/c0/first.h"] = 0
        if rng.random() < 0.7:
            self.files.update({"@T/c0/h.h": None, "@T/c0/sub/h.h": None, "@T/d0/h.h": 0})
        self.cwd = rng.choice(["@T/c0", "@T/c0", "@T/c1"])
        self.sequences = []

    def twins(self, kind, number):
        """Two programs that differ in one thing, or not at all."""
        rng, twins = self.rng, []
        alone = kind != "memory" and (self.headers or rng.random() < 0.85)
        name, memory = rng.choice(NAMES), [] if alone else [1]
        other = rng.choice(["name", "number", "nothing"] if alone else ["memory", "memory", "name"])
        for twin in (0, 1):
            if twin and other == "name":
                name = rng.choice(NAMES)
            elif twin and other == "memory":
                memory = [2]
            include = "m.h" if kind == "memory" else "h.h"
            headers = [(include, f"#define {include[0].upper()} {each}\n") for each in memory]
            twins.append(Program(kind, number + (5 if twin and other == "number" else 0), name,
                                 headers + ([("unused.h", "nonsense\n")] if headers else [])))
        return twins

    def other_options(self, text):
        """The same but for one."""
        rng, words = self.rng, text.split()
        last = rng.random() < 0.5
        if words and rng.random() < 0.6:
            del words[-1 if last else 0]
        words.insert(len(words) if last else 0, rng.choice(MORE + TARGETS))
        return " ".join(words)

    def make_options(self, rng):
        words = [rng.choice(TARGETS)] + rng.sample(MORE, rng.choice([0, 0, 1, 1, 1, 2, 2, 3]))
        if self.headers and rng.random() < 0.8:
            words = [rng.choice(TARGETS), rng.choice(["-I@T/d0", "-I@T/d0", "-I@T/d0", "-I@T/d1"])]
        if rng.random() < 0.1:
            words.append(rng.choice(REFUSED))
        rng.shuffle(words)
        return " ".join(filter(None, words))

    # Sequences.

    def call(self, kind=None):
        """Any call, or one of this kind: (kind, a number that decides the rest)."""
        weights = {"create": 5, "use": 6, "destroy": 3, "compile": 40, "add": 9, "lowered": 8, "get": 20, "callback": 5,
                   "edit": 20 if self.headers else 4, "other": 5}
        return kind or self.rng.choices(list(weights), weights.values())[0], self.rng.getrandbits(32)

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
                self.change(calls)
        elif how == "new":
            calls = [self.call("create")]
        if self.headers and rng.random() < 0.5:
            calls[:calls[0][0] == "edit"] = [self.call("edit")]
        length = rng.randint(6, 18) if how in ("new", "prefix") else 0
        life = Life(self)
        made = [call for call in calls if life.take(*call)]
        while len(made) < length:
            call = self.call("add" if made and made[-1][0] in ("create", "add") and rng.random() < 0.4 else None)
            made += [call] * life.take(*call)
        self.sequences = (self.sequences + [made])[-20:]
        return how, made, life

    def change(self, calls):
        """One call more, or less, or another in its place."""
        rng, at = self.rng, self.rng.randrange(len(calls))
        form = rng.random()
        keys = [number for number, call in enumerate(calls) if call[0] in ("create", "compile", "add")]
        if form < 0.2 and len(calls) > 1:
            del calls[at]
        elif form < 0.4 and keys:
            calls.insert(rng.choice(keys), self.call(rng.choice(["callback", "edit", "add"])))
        elif form < 0.55 or not keys:
            calls.insert(at, self.call())
        else:
            at = rng.choice(keys)
            calls[at] = self.call(calls[at][0])
