# SPDX-License-Identifier: MIT
"""Random texts, written as perversely as the front end allows: what they hang on must not be missed (random_tests.py).

Each case is one program: a source with a few constructs that hang on a path, on the clock or on a header that is named
by its absolute path, wherever text reaches the compiler (source, headers in memory and on disk, options, name
expressions, program name), with line splices of every spelling, byte-order marks, comments and raw strings in random
places. It is compiled in one situation, then in another one (working directory, -I directory, program's directory, second
of the clock, content of a header, locale), and in the first again; some compiles are second ones of their handle. All that a
host can see must be what NVRTC gives without the cache, twice over in one process.

A case that differs plays in differential.py too (WALL_CLOCK needs BUILD/tests/fixtures/libwall_clock.so in LD_PRELOAD).
"""
import concurrent.futures
import os
import subprocess

import casefile
import differential
from players import Died, Play, compare

CLOCKS = ("1700000000", "1700003661")
DIRECTORIES = ("p", "much-longer")
COMMA = "de_DE.UTF-8"  # made into LOCPATH; where that cannot be, the player says so each time
STANDARDS = ("11", "11", "14", "14", "17", "20")
NAMES = ("__FILE__", "__BASE_FILE__", "__builtin_FILE()", "__TIME__", "__DATE__")
SPLICES = ("\\\n", "\\\n", "\\\r\n", "\\\r\r\n", "\\" + "\r" * 7 + "\n")
TRIGRAPH_SPLICES = ("??/\n", "??/\r\n", "??/\r\r\r\n")
BLANK_SPLICES = ("\\ \n", "\\\t\n", "\\ \x0b\r\n", "\\\x0c\n")


def escaped(text):
    """As the player's <<x takes it."""
    return "".join(c if " " <= c <= "~" and c != "\\" or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def word(text):
    return escaped(text).replace(" ", "\\_").replace("\n", "\\n")


class Writer:
    """Writes text with splices in it."""

    def __init__(self, rng, standard):
        self.rng, self.standard = rng, standard
        self.splices = SPLICES + (BLANK_SPLICES if standard == "23" else ())
        # elsewhere they are none, and nearly nothing compiles
        self.splices += TRIGRAPH_SPLICES if standard in ("11", "14") or rng.random() < 0.02 else ()

    def splice(self, most):
        if most > 1 and self.rng.random() < 0.03:  # more than is kept of a piece
            return self.rng.choice(self.splices[:4]) * self.rng.randint(most // 2, most)
        return self.rng.choice(self.splices) * self.rng.choice((1, 1, 1, 2))

    def perverse(self, text, most=1500):
        """A place of the form @T is never cut."""
        if self.rng.random() < 0.2:
            return text
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            places = [i for i in range(len(text) + 1) if text[i - 1:i + 1] != "@T" and not text[:i].endswith("@")]
            at = self.rng.choice(places)
            text = text[:at] + self.splice(most) + text[at:]
        return text

    def noise(self):
        return self.rng.choice((
            "", "", "", "// plain /p /x\n", "/* a " + self.splice(9) + " b */\n", "// a comment that goes" + self.splice(9) + " on\n",
            f'__device__ const char raw{self.rng.randint(0, 10**9)}[] = R"(a{self.rng.choice(SPLICES[:2])}b)";\n', "\r\n", "\f\v\n",
            "#define UNUSED(x) #x \\\n + 1 \\\r\n + 2\n", "// ??= ??( ??/ what\n"))


class Program:
    """One random program. `self.lines` is its case."""

    def __init__(self, rng, number, release):
        self.rng = rng
        standards = STANDARDS + (("23", "23") if release >= (13, 5) else ())
        self.standard = rng.choice(standards)
        self.writer = Writer(rng, self.standard)
        self.sentence = f"Random texts {number}, C++{self.standard}."
        self.values, self.parts, self.options, self.expressions, self.memory = [], [], [], [], []
        self.header = "#define A 1\n"  # of both -I directories
        self.uses_header = self.absolute = self.decimal = False
        for _ in range(rng.choice((1, 1, 2))):
            rng.choice((self.name_in_source, self.name_in_source, self.name_in_option, self.name_in_header, self.name_in_memory,
                        self.name_in_expression, self.name_in_expression, self.absolute_include, self.absolute_include,
                        self.absolute_include, self.absolute_test, self.absolute_by_macro, self.relative_include,
                        self.known_by_name, self.decimal_in_assembly))()
        self.steps()

    # Constructs.
    def value_of(self, name):
        if name.endswith(")") or self.rng.random() < 0.6:
            return f"sizeof({name})"
        return f"{name}[sizeof({name}) - {self.rng.randint(2, 4)}]"

    def value(self):
        return self.value_of(self.writer.perverse(self.rng.choice(NAMES)))

    def name_in_source(self):
        self.values.append(self.value())

    def name_in_option(self):
        self.options.append(f"-DOPTION={self.value_of(self.rng.choice(NAMES)).replace(' ', '')}")
        self.values.append("OPTION")

    def name_in_header(self):
        self.header += f"#define HEADER {self.value()}\n"
        if self.rng.random() < 0.3:  # over the border of two pieces
            self.header = "/*" + "x" * (65536 - self.rng.randint(0, 60)) + "*/\n" + self.header
        self.uses_header = True
        self.values.append("HEADER")

    def name_in_memory(self):
        self.memory.append(("m.h", f"#define MEMORY {self.value()}\n"))
        self.parts.append('#include "m.h"\n')
        self.values.append("MEMORY")

    def name_in_expression(self):
        self.expressions.append(f"t<sizeof({self.writer.perverse(self.rng.choice(NAMES), 1)})>")

    def known_by_name(self):
        self.parts.append("#include <cub/util_debug.cuh>\n")
        self.values.append("KNOWN")

    def quoted(self, path):
        return f'"{path}"' if self.rng.random() < 0.6 else f"<{path}>"

    def absolute_include(self):
        self.parts.append(f"#ifdef USE\n#include {self.writer.perverse(self.quoted('@T/p/h.h'))}\n#else\n#define A 0\n#endif\n")
        self.values.append("A")
        self.absolute = True

    def absolute_test(self):
        self.parts.append(f"#if __has_include({self.writer.perverse(self.quoted('@T/p/gone.h'))})\n#define HAS 1\n#else\n"
                          "#define HAS 0\n#endif\n")
        self.values.append("HAS")
        self.absolute = True

    def absolute_by_macro(self):
        self.parts.append(f"#define STRING(x) #x\n#define QUOTE(x) STRING(x)\n#define WHERE {self.writer.perverse('@T/p')}\n"
                          "#ifdef USE\n#include QUOTE(WHERE/h.h)\n#else\n#define A 0\n#endif\n")
        self.values.append("A")
        self.absolute = True

    def relative_include(self):
        self.parts.append(f"#include {self.writer.perverse(self.quoted('h.h'))}\n")
        self.uses_header = True
        self.values.append("A")

    def decimal_in_assembly(self):
        number = f"{self.rng.randint(0, 9)}.{self.rng.randint(1, 9)}"
        self.parts.append(f'__device__ float f{len(self.parts)}() {{ float r; asm("mov.f32 %0, {number};" : "=f"(r)); return r; }}\n')
        self.values.append(f"(int)(f{len(self.parts) - 1}() * 10)")
        self.decimal = True

    # The case.
    def source(self):
        rng, writer = self.rng, self.writer
        text = "\xef\xbb\xbf" if rng.random() < 0.01 else ""
        if self.uses_header and "#include" not in "".join(self.parts):
            self.parts.append('#include "h.h"\n')
        rng.shuffle(self.parts)
        for part in self.parts:
            text += writer.noise() + part
        text += writer.noise() + "template<unsigned long N> __global__ void t(int *p) { *p = N; }\n"
        text += 'extern "C" __global__ void k(int *p) { *p = 0' + "".join(f" + {value}" for value in self.values) + "; }\n"
        return text + writer.noise()

    def visit(self, cwd, include, place, clock, language, twice):
        lines = [f"chdir @T/{cwd}", f"setenv WALL_CLOCK {clock}", f"name {place}"]
        if self.decimal:
            lines.append(f"locale {language}")
        for name, text in self.memory:
            lines += [f"header {name} <<x", *escaped(text).split("\n")[:-1], "END"]
        lines.append("create")
        lines += [f"add {word(expression)}" for expression in self.expressions]
        options = ["-arch=sm_86" if self.decimal else "-arch=compute_86", f"-std=c++{self.standard}", *map(word, self.options)]
        if twice:
            lines.append("compile " + " ".join(options))
        lines.append("compile " + " ".join([*options, "-DUSE", f"-I@T/{include}"]))
        lines += [f"lowered {word(expression)}" for expression in self.expressions]
        return [*lines, "all", "destroy"]

    def steps(self):
        rng = self.rng
        lines = []
        for directory in (*DIRECTORIES, "w", "w-that-is-longer"):
            lines += [f"mkdir {directory}", f"mkdir {directory}/cub", f"write {directory}/cub/util_debug.cuh <<",
                      "#define KNOWN sizeof(__FILE__)", "END", f"age {directory}/cub/util_debug.cuh"]
        for directory in DIRECTORIES:
            lines += [f"write {directory}/h.h <<x", *escaped(self.header).split("\n")[:-1], "END", f"age {directory}/h.h"]
            lines += [f"write {directory}/gone.h <<", "END", f"age {directory}/gone.h"]
        source = self.source()
        lines += ["settle", "source <<x", *escaped(source).split("\n")[:-1], "END"]
        first = ["w", "p", rng.choice(("NULL", "k.cu", "@T/p/k.cu", "sub/k.cu")), CLOCKS[0], "C"]
        other = list(first)
        for axis in rng.sample(range(4), rng.choice((1, 1, 2))) + ([1] if self.absolute else []) + ([4] if self.decimal else []):
            other[axis] = {0: "w-that-is-longer", 1: "much-longer", 2: "@T/much-longer/k.cu", 3: CLOCKS[1], 4: COMMA}[axis]
        if self.decimal and rng.random() < 0.5:
            first[4], other[4] = other[4], first[4]
        twice = rng.random() < 0.4
        lines += self.visit(*first, twice)
        if self.absolute and rng.random() < 0.8:
            lines += ["rewrite @T/p/h.h <<", "#define A 2", "#define HEADER 3", "END", "age @T/p/h.h", "unlink @T/p/gone.h", "settle"]
        lines += self.visit(*other, twice)
        lines += self.visit(*first, twice)
        self.lines = lines


class Texts(Play):
    SENTENCES = ("Whatever a text hangs on, and however it is written, a hit gives what NVRTC gives.",)
    STEPS, ROUNDS, SECONDS = 12, 10**9, 25

    @staticmethod
    def prepare(build, place):
        os.environ["LD_PRELOAD"] = os.environ["CASES_PRELOAD_FIRST"] = f"{build}/tests/fixtures/libwall_clock.so"
        os.environ["LOCPATH"] = place
        subprocess.run(["localedef", "-c", "-i", "de_DE", "-f", "UTF-8", f"{place}/{COMMA}"], capture_output=True, check=False)

    def begin(self):
        self.library, self.cases = differential.Library(self.arms.library), []

    def step(self, number):
        program = Program(self.rng, number, self.library.release)
        self.cases.append(casefile.Case(program.sentence, []))
        self.cases[-1].lines = self.arms.record(program.sentence, "", program.lines)

    def end(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            parts = [self.cases[place::os.cpu_count()] for place in range(os.cpu_count())]
            list(pool.map(self.play, filter(None, parts)))

    def play(self, cases):
        bench = differential.Bench(self.arms.build, self.library)
        try:
            plain, cached = bench.run(cases, "1", False, {}), bench.run(cases, "1", True, {})
        finally:
            bench.close()
        if plain.pid_digits != cached.pid_digits:  # module ids hold the pid, whose length shows in names
            self.play(cases)
            return
        for case in cases:
            compare("got", plain.output.get((1, case.sentence), []), cached.output.get((1, case.sentence), []))
        if plain.code or cached.code or len(plain.output) != len(cases):
            raise Died(f"players ended with {plain.code} and {cached.code}: {plain.errors} {cached.errors}")
        told = [line for lines in [*cached.log.values(), *plain.output.values()] for line in lines]
        self.count.update(word for line in told for word in (": hit", "not cached", ": stored", "  compile 6") if word in line)
        self.count["compiles"] += sum(line.startswith("  compile ") for line in told)

    @classmethod
    def proofs(cls, count, steps):
        yield (steps < 100 or (count[": hit"] > steps and count["not cached"] > steps // 2
                               and count["  compile 6"] < count["compiles"] // 2),
               "Programs compiled, hit, and were refused for the clock.", [])
