# SPDX-License-Identifier: MIT
"""Options before others, in one process: what scripts/sticky plays.

A worker is a process that compiles what it is told, one request after the other, and answers with digests. spoilers.py
LIBRARY is one; spoilers.py --source prints what it compiles where it is told nothing else.
"""
import contextlib
import ctypes
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import kept

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(REPOSITORY, "build"))
VERDICT = os.path.join(BUILD, "tests", "verdict")
PRODUCTS = ("PTX", "CUBIN", "LTOIR", "OptiXIR", "TileIR", "NVVM", "ProgramLog")
REFUSED = 5

# Large enough for every pass to have something to do: loops to unroll, calls to inline, switches to make tables of,
# arrays on the stack, loads that could be read-only, arithmetic that could be fast.
SOURCE = """
struct item { float a[6]; int n; };
__device__ __noinline__ float third(float a) { return a / 3.0f + sqrtf(a); }
__device__ int half(int a) { return a / 2; }
__device__ float chosen(int which, float x)
{
    switch (which) {
    case 0: return x + 1.0f; case 1: return x * 2.0f; case 2: return x - 3.0f; case 3: return x / 4.0f;
    case 4: return sinf(x); case 5: return x * x; case 6: return expf(x); case 7: return third(x);
    case 9: return x + 9.0f; case 11: return x * 11.0f; case 17: return x - 17.0f; default: return x;
    }
}
template <int N> __device__ float folded(const float *p) { float s = 0; for (int i = 0; i < N; i++) s += p[i] * p[i + N]; return s; }
__device__ __noinline__ double longer(double x, int n)
{
    double buffer[32];
    for (int i = 0; i < 32; i++) buffer[i] = x * i;
    for (int i = 0; i < n; i++) buffer[(i * 7) & 31] += buffer[(i * 5 + 1) & 31] / (i + 1);
    return buffer[n & 31];
}
"""
KERNEL = """
extern "C" __global__ void k%(n)d(float *out, const float *in, item *items, int n)
{
    __shared__ float tile[%(n)d + 64];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        tile[i & 63] = in[i] + %(n)d;
        __syncthreads();
        for (int j = 0; j < %(n)d + 4; j++) sum += tile[(i + j) & 63] * in[j] + third(in[j + 1]);
        sum += chosen((i + %(n)d) %% 18, sum) + folded<%(n)d + 3>(in) + half(i);
        items[i].a[%(n)d %% 6] = sum; items[i].n += half(items[i].n);
    }
    if (sum > n) out[1] = (float)longer(sum, n);
    out[0] = sum; int unused;
}
"""


def source():
    return SOURCE + "".join(KERNEL % {"n": n} for n in (1, 2))


class Nvrtc:
    def __init__(self, path):
        self.handle = ctypes.CDLL(path)

    def release(self):
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.handle.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        return major.value * 100 + minor.value

    def compile(self, text, options):
        """(return code, {product: bytes})"""
        program = ctypes.c_void_p()
        self.handle.nvrtcCreateProgram(ctypes.byref(program), text.encode(), None, 0, None, None)
        array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        code = self.handle.nvrtcCompileProgram(program, len(options), array)
        products = {}
        for product in PRODUCTS:
            if hasattr(self.handle, f"nvrtcGet{product}Size"):
                size = ctypes.c_size_t()
                getattr(self.handle, f"nvrtcGet{product}Size")(program, ctypes.byref(size))
                held = ctypes.create_string_buffer(size.value + 1)
                getattr(self.handle, f"nvrtcGet{product}")(program, held)
                products[product] = held.raw[:size.value]
        self.handle.nvrtcDestroyProgram(ctypes.byref(program))
        return code, products


def settled(product, held):
    """Without what differs from compile to compile: numbers of calls (before 12.8), times that logs tell."""
    if product == "PTX":
        held = re.sub(rb"// callseq \d+(, \d+)?", b"", held)
    if product == "ProgramLog":
        held = re.sub(rb"[\d.]+ *ms", b"", held)
    return held


def work(path):
    """Requests are lines of JSON, {"options": [...]} with "text" for another source; so are the answers. {"probe": [...]}:
    which of these are called unrecognized? Those are left out of the answer, the others have what is said of them."""
    nvrtc, own = Nvrtc(path), source()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # some options print
    for line in sys.stdin:
        request = json.loads(line)
        if "probe" in request:
            logs = {option: nvrtc.compile("x", [option, UNKNOWN])[1]["ProgramLog"][:400].decode(errors="replace")
                    for option in request["probe"]}
            answers.write(json.dumps({option: log for option, log in logs.items()
                                      if f"unrecognized option {option.rstrip('?')}" not in log}) + "\n")
            answers.flush()
            continue
        code, products = nvrtc.compile(request.get("text", own), request["options"])
        told = {product: hashlib.sha256(settled(product, held)).hexdigest()[:16] for product, held in products.items()}
        log = products["ProgramLog"][:400].decode(errors="replace") if request.get("log") else ""
        answers.write(json.dumps({"code": code, "products": told, "log": log}) + "\n")
        answers.flush()


class Worker:
    """A process that compiles. It may die of what it is told: what follows is then not answered. All work in one
    directory, which is emptied first: some results spell it."""

    more = {}  # variables
    ended = False  # has one ended before it answered?
    place = tempfile.TemporaryDirectory(prefix="nvrtccache-sticky-")

    def __init__(self, path):
        for name in os.listdir(self.place.name):
            left = os.path.join(self.place.name, name)
            shutil.rmtree(left) if os.path.isdir(left) else os.unlink(left)
        environment = dict(os.environ, CUDA_CACHE_DISABLE="1", LD_LIBRARY_PATH=os.path.dirname(os.path.abspath(path)),
                           **self.more)
        environment.pop("LD_PRELOAD", None)
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), os.path.abspath(path)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=environment, cwd=self.place.name)

    def ask(self, options, **more):
        try:
            self.process.stdin.write(json.dumps({**({"options": options} if options else {}), **more}) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, ValueError):
            Worker.ended = True
            return {"code": None, "products": {}, "log": "the process ended"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError): # what a process that ended has not read
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


ARCH = "-arch=sm_86"
VIRTUAL = "-arch=compute_86"
VICTIMS = [[ARCH], [VIRTUAL, "-split-compile=2"], [ARCH, "-dlto"], [VIRTUAL, "-G"], [VIRTUAL, "-lineinfo"],
           [VIRTUAL, "-rdc=true"], [VIRTUAL, "-optix-ir"], [VIRTUAL, "-use_fast_math"], [VIRTUAL, "-DBAD=1"]]

# What to give where the library says no more than that a value is wanted.
VALUES = {
    "arch": ["sm_80", "compute_90", "sm_90", "compute_80"], "gpu-architecture": ["sm_89"],
    "std": ["c++11", "c++14", "c++17", "c++20", "c++03"], "dopt": ["on", "off"],
    "Ofast-compile": ["0", "min", "mid", "max"], "Ofc": ["max"], "opt-info": ["inline"], "optimization-info": ["inline"],
    "split-compile": ["0", "1", "2", "4"], "maxrregcount": ["16", "32", "255"], "jtd": ["0", "50", "101"],
    "jump-table-density": ["10"], "frandom-seed": ["7", "x"], "define-macro": ["X=1"], "undefine-macro": ["X"],
    "include-path": ["."], "pre-include": ["nothing.h"], "diag-error": ["177"], "diag-suppress": ["177", "186"],
    "diag-warn": ["177"], "fmax-errors": ["1"], "time": ["times.csv"], "fdevice-time-trace": ["trace"],
    "use-bundled-headers": ["bundle"], "create-pch": ["made.pch"], "use-pch": ["made.pch"], "pch-dir": ["."],
    "Xcudafe": ["--display_error_number", "--no_warnings"], "Xnvvm": ["-opt=0", "-fma=0"],
}
ASSEMBLER = ["-v", "-w", "-O0", "-O1", "-O2", "-O3", "--opt-level=1", "-dlcm=ca", "-dlcm=cg", "-dscm=cg", "-flcm=ca",
             "-fscm=wb", "--warn-on-spills", "-warn-lmem-usage", "-warn-double-usage", "-Werror", "--fmad=false",
             "--maxrregcount=32", "--register-usage-level=10", "--register-usage-level=0",
             "--allow-expensive-optimizations=true", "--allow-expensive-optimizations=false", "-opt-fp-atomics",
             "--suppress-stack-size-warning", "-lineinfo", "-g", "-preserve-relocs", "-ret-end", "-pic=true",
             "-disable-optimizer-consts", "-ewp", "--split-compile=2", "-Ofc=max", "-Ofc=min", "--version", "--help"]
JOINED = ("std", "opt-info", "optimization-info", "frandom-seed", "time", "fdevice-time-trace", "create-pch", "use-pch",
          "pch-dir", "fmax-errors", "use-bundled-headers")
UNKNOWN = "--no-such-option"
# What spoilers compile: enough to go all the way.
SMALL = """__device__ __noinline__ float third(float a) { return a / 3.0f; }
extern "C" __global__ void k(float *p, const float *q) { for (int i = 0; i < 5; i++) p[i] = third(q[i]) + sinf(q[i]); int u; }
"""
CROWD = 64  # spoilers that share a process


class Search:
    def __init__(self, path):
        self.path = path
        self.release = Nvrtc(path).release()
        self.baselines = {}

    def strings(self):
        with open(self.path, "rb") as file:
            held = file.read()
        return sorted({found.decode() for found in re.findall(rb"(?<=\0)-{0,2}([A-Za-z][A-Za-z0-9_+-]{0,39})=?(?=\0)",
                                                              held)})

    def options(self):
        """{spelling: what its log says of a value that is none}, of every string that is not called unrecognized."""
        names = [name for name in self.strings() if name[0] not in "DUI" or name in ("D", "U", "I")]
        asked = [dashes + name + tail for name in names for dashes in ("-", "--")
                 for tail in (("", "=?") if name in JOINED else ("",))]
        with Worker(self.path) as worker:
            return {option.rstrip("?"): log for option, log in worker.ask([], probe=asked).items()}

    def spoilers(self):
        """Lists of options, each a compile."""
        lists = []
        for option, log in self.options().items():
            name = option.strip("-=")
            if name in ("Xptxas", "ptxas-options"):
                lists += [[ARCH, option + "=" + value] for value in ASSEMBLER]
                continue
            values = VALUES.get(name, ["true", "false"] if "expects true or false" in log else
                                ["0", "1", "2"] if "integer" in log else [])
            whole = [[option + value if option.endswith("=") else option + "=" + value] for value in values] or [[option]]
            if name.startswith("X"):
                whole = [[option, value] for value in values]
            for words in whole:
                base = [] if "arch" in name else [ARCH]
                lists.append(base + words)
                if not base or name not in ("dlto", "optix-ir", "dlink-time-opt"):
                    lists.append([VIRTUAL, "-dlto", *words] if base else ["-dlto", *words])
        return lists

    def baseline(self, victim):
        """Asked in no worker's life: the directory is emptied."""
        key = " ".join(victim)
        if key not in self.baselines:
            with Worker(self.path) as worker:
                self.baselines[key] = worker.ask(victim)
        return self.baselines[key]

    def spoilt(self, spoilers, victims):
        """Which victims give something else after these, in one process; None where one of these ended it."""
        found = []
        for victim in victims:
            self.baseline(victim)
        with Worker(self.path) as worker:
            for spoiler in spoilers:
                if worker.ask(spoiler, text=SMALL)["code"] is None:
                    return None
            for victim in victims:
                told = worker.ask(victim)
                if told["code"] is not None and told["products"] != self.baseline(victim)["products"]:
                    found.append(victim)
        return found

    def part(self, spoilers):
        """[(spoiler, victims)] of those that spoil alone."""
        spoilt = self.spoilt(spoilers, VICTIMS)
        if spoilt == []:
            return []
        if len(spoilers) == 1:
            return [(spoilers[0], spoilt)]
        middle = len(spoilers) // 2
        return self.part(spoilers[:middle]) + self.part(spoilers[middle:])

    def verdict(self, spoilers, victim):
        """What the library would do with the victim's result: "clear" is to keep it."""
        words = [word for spoiler in spoilers for word in [*spoiler, "::"]] + victim
        return subprocess.run([VERDICT, str(self.release), *words], capture_output=True, text=True,
                              check=True).stdout.strip()

    def title(self):
        return f"NVRTC {self.release // 100}.{self.release % 100}"

    def play_all(self):
        begin, spoilers = time.monotonic(), self.spoilers()
        cleared = [spoiler for spoiler in spoilers if self.verdict([spoiler], VICTIMS[0]) == "clear"]
        others = [spoiler for spoiler in spoilers if spoiler not in cleared]
        changing = [victim for victim in VICTIMS if self.spoilt([victim], [victim])]
        bad = sum(self.tell(each) for i in range(0, len(cleared), CROWD) for each in self.part(cleared[i:i + CROWD]))
        bad += sum(self.tell((spoiler, self.spoilt([spoiler], VICTIMS))) for spoiler in others)
        for victim in changing:
            print(f"never the same twice: {' '.join(victim)}")
        unknown = {" ".join(spoiler[1:]) for spoiler in others if self.verdict([spoiler], VICTIMS[0]) == "uncleared"}
        print(f"not cleared: {', '.join(sorted(unknown - {''})) or 'none'}")
        print(f"{self.title()}: {len(spoilers)} spoilers, {len(cleared)} of them cleared, before {len(VICTIMS)} victims, "
              f"{time.monotonic() - begin:.0f} s: {bad} would have been kept", flush=True)
        if bad == 0 and self.release not in searched():
            print(f"X({self.release}) belongs into STICKY_SEARCHED of interpose/nvrtc/sticky.h")
        return bad == 0

    def tell(self, found):
        """How many of the victims that were found changed the library would have kept."""
        spoiler, victims = found
        bad = 0
        if victims is None:
            print(f"ends the process: {' '.join(spoiler)}")
        for victim in victims or []:
            verdict = self.verdict([spoiler], victim)
            bad += verdict == "clear"
            print(f"{'KEPT' if verdict == 'clear' else verdict}: {' '.join(victim)} is another after {' '.join(spoiler)}",
                  flush=True)
        return bad

    def play_random(self, count, seed):
        """Processes of twelve random compiles and then eight random victims, of what the library takes for clear. What a
        victim gives is compared with what it gives alone. What NVRTC gives is kept for the next time (kept.py); what the
        library takes for clear is asked each time."""
        numbers, bad, played = random.Random(seed), 0, 0
        by_name, gives = {}, kept.Answers(os.path.join(BUILD, "tests", "plain", f"spoilers-{self.release}.json"),
                                          kept.digest(os.path.abspath(__file__), [self.path]))
        for spoiler in gives.of(self.spoilers):
            # a precompiled header is a file, which later ones find: conditions are about that
            if "pch" not in " ".join(spoiler) and self.verdict([spoiler], VICTIMS[0]) == "clear":
                words = [word for word in spoiler if word not in (ARCH, VIRTUAL)]
                by_name.setdefault(words[-1].split("=")[0].lstrip("-"), []).append(words)
        names = sorted(by_name)

        def some(most):
            return [numbers.choice([ARCH, VIRTUAL]), *(word for _ in range(numbers.randint(1, most))
                                                       for word in numbers.choice(by_name[numbers.choice(names)]))]

        for number in range(count):
            spoilers = [some(3) for _ in range(12)]
            victims = [victim for victim in (some(2) for _ in range(8))
                       if self.verdict(spoilers, victim) == "clear"]
            played += len(victims)
            for victim in gives.of(self.spoilt, spoilers, victims) or []:
                # some are never the same twice, and need no spoiler: they are kept with what changes taken for equal
                if gives.of(self.spoilt, [victim], [victim]):
                    continue
                bad += 1
                print(f"KEPT, process {number}: {' '.join(victim)} is another after "
                      + ", ".join(" ".join(each) for each in spoilers), flush=True)
        # a process that something else killed would be taken for one that NVRTC ends
        if not Worker.ended:
            gives.write()
        print(f"{self.title()}: {count} random processes, {played} victims, seed {seed}: {bad} would have been kept wrongly",
              flush=True)
        return bad == 0


def searched():
    """The releases that interpose/nvrtc/sticky.h says were searched."""
    with open(os.path.join(REPOSITORY, "interpose", "nvrtc", "sticky.h")) as file:
        listed = re.search(r"define STICKY_SEARCHED\(X\)(.*)", file.read())[1]
    return [int(release) for release in re.findall(r"X\((\d+)\)", listed)]


def paths_of(version, names):
    """What scripts/nvrtc-env says of a wheel's release, or of the toolkit."""
    environment = dict(os.environ, **({"NVRTCCACHE_TOOLKIT": f"wheel:{version}"} if version else {}))
    if version:
        subprocess.run([os.path.join(REPOSITORY, "scripts", "setup")], env=environment, check=True, stdout=sys.stderr)
    told = subprocess.run(["bash", "-c", f'eval "$("$0/scripts/nvrtc-env")" && printf "%s\\n" {names}', REPOSITORY],
                          env=environment, capture_output=True, text=True, check=True)
    return told.stdout.split()


def library_of(version):
    """The path of libnvrtc."""
    return paths_of(version, '"$NVRTC_LIB/$NVRTC_SONAME"')[0]


def linkers_of(version):
    """The paths of nvJitLink and libNVVM, as far as there are any."""
    return paths_of(version, '"$NVJITLINK_LIB" "$NVVM_LIB"')


if __name__ == "__main__":
    if sys.argv[1] == "--source":
        print(source())
    else:
        work(sys.argv[1])
