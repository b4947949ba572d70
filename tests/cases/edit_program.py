# SPDX-License-Identifier: MIT
"""Texts of headers, and programs that include them, at random. Paths begin with @T, the tree's top, or @W, the tree."""
import os
import re

NAMES = ["a.h", "b.h", "c.h", "d.h", "sub/a.h", "sub/c.h", "once.h", "twice.h", "opt.h"]
COMMON = NAMES + ["a.h", "b.h", "c.h"] * 3
PLACES = ["d0", "d1", "d2", "prog", "cwd0", "cwd1"]
SLOTS = ["t0", "t1", "a/longer/place", "t0-copy"]
SETTLE = "settle 40"  # the kernel's clock for file times is 10 ms late at most, twice that counts as too new
DEFAULTS = "".join(f"#ifndef V_{c}\n#define V_{c} 0\n#endif\n" for c in "ABCDOTPM")


def letter(name):
    return os.path.basename(name)[0].upper()


def join(directory, path):
    return path if path.startswith("@T") else os.path.join(directory, path)


def directive(rng, name, bare=0.15):
    """Mostly in a form that does not fail: a failure ends the compile, and hides what the rest would have shown."""
    quoted = f'"{name}"' if rng.random() < 0.6 else f"<{name}>"
    if rng.random() < bare:
        return f"#include {quoted}\n"
    return f"#if __has_include({quoted})\n#include {quoted}\n#endif\n"


class Bodies:
    """A few texts per header, so that contents come back."""

    def __init__(self, rng):
        self.rng = rng
        self.texts = {}
        for name in NAMES:
            base = os.path.basename(name)
            if base not in self.texts:
                self.texts[base] = [self.make(base) for _ in range(4)]

    def make(self, base):
        rng, own = self.rng, letter(base)
        text = "#pragma once\n" if base in ("once.h", "twice.h") or rng.random() < 0.3 else ""
        text += f"#undef V_{own}\n#define V_{own} {rng.randint(1, 5)}\n"
        # Only later letters: no cycles.
        later = [name for name in NAMES + ["back.h"] if os.path.basename(name) > base]
        for name in rng.sample(later, min(len(later), rng.choice([0, 0, 1, 1, 2]))):
            form = rng.random()
            if form < 0.1:
                text += directive(rng, f"../d{rng.randrange(3)}/{name}", 0.1)
            elif form < 0.14:
                text += f"#if __has_include(<{name}>)\n#include_next <{name}>\n#endif\n"
            else:
                text += directive(rng, name, 0.08)
        if base in ("once.h", "twice.h"):  # read twice, it fails
            text += f"__device__ __noinline__ int once_{own}(int x) {{ return x * {rng.randint(2, 4)}; }}\n"
        extra = rng.random()
        if extra < 0.12:
            text += f"static __device__ const char *where_{own}() {{ return __FILE__; }}\n#define W_{own} 1\n"
        elif extra < 0.2:
            text += f"static __device__ int warned_{own}() {{ int unused_{own}; return {rng.randint(1, 9)}; }}\n"
        elif extra < 0.35:
            text += f"__device__ __noinline__ int f_{own}(int x) {{ return x * {rng.randint(2, 9)}; }}\n" \
                    f"#define F_{own} 1\n"
        elif extra < 0.36:
            text += f"#error {base} says no\n"
        elif extra < 0.40:
            text += "/* " + "padding " * 8200 + "*/\n"
        return text

    def draw(self, name):
        return self.rng.choice(self.texts[os.path.basename(name)])


class Program:
    """One thing to compile. Its texts hold @W."""

    def __init__(self, rng, bodies, number):
        self.rng, self.number = rng, number
        self.headers, self.expressions, self.defines = [], [], []
        self.source = f"/* program {number} */\n"
        for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 4])):
            self.source += self.include(bodies)
        for own in "ABC":
            self.source += f"#ifdef W_{own}\n__device__ const char *w_{own} = where_{own}();\n#endif\n" \
                if rng.random() < 0.5 else ""
        if rng.random() < 0.12:
            self.source += "__device__ const char *file() { return __FILE__; }\n"
        self.source += DEFAULTS + 'extern "C" __global__ void k(int *p) {\n'
        self.source += "".join(f"p[{i}] = V_{c};\n" for i, c in enumerate("ABCDOTPM"))
        self.source += "#ifdef F_A\np[8] = f_A(p[8]);\n#endif\n#ifdef F_C\np[9] = f_C(p[9]);\n#endif\n"
        self.source += "#ifdef X\np[10] = X;\n#endif\n" + ("int never;\n" if rng.random() < 0.1 else "") + "}\n"
        if rng.random() < 0.2:
            self.source += "template <class T> __global__ void t(T *p) { *p = V_A; }\n"
            self.expressions = ["t<int>", "t<\\_float\\_>"]
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            name = rng.choice(["mem.h", "a.h", "b.h", "sub/c.h", "back.h", "once.h", "../d0/a.h"])
            if name not in (header for header, _ in self.headers):
                self.headers.append((name, self.memory(bodies, name)))
        self.name = rng.choice(["NULL"] * 4 + ["k.cu", "k.cu", "../prog/k.cu", "@W/prog/k.cu", "@W/prog/k.cu",
                                               "@W/d0/k.cu", "/new/", "/new/", "./k.cu", "@W/now/k.cu"])
        self.cwd = rng.choice(["cwd0", "cwd0", "cwd1", "here", ".", "d0", "prog"] + ["/gone/"] * (rng.random() < 0.3))
        self.pwd = rng.choice(["/here/"] * 4 + ["cwd1", "here", ""])
        self.options = self.make_options()
        # Two compiles of one handle: what the first made stays where the second makes none of it.
        arch = "-arch=compute_90" if self.options[0] == "-arch=sm_90" else "-arch=sm_90"
        self.other_options = [arch] + self.options[1:] if rng.random() < 0.6 else self.changed_options()

    def include(self, bodies):
        rng, form = self.rng, self.rng.random()
        name = rng.choice(COMMON)
        if form < 0.1:
            return directive(rng, "once.h") + directive(rng, "twice.h")
        if form < 0.6:
            return directive(rng, name, 0.25)
        if form < 0.67:
            quoted = f"<{name}>" if rng.random() < 0.5 else f'"{name}"'
            return f"#if __has_include({quoted})\n#include {quoted}\n#else\n#define V_T {rng.randint(1, 9)}\n#endif\n"
        if form < 0.75:
            self.defines = [f'-DHDR="{name}"', f"-DHDR=<{name}>", '-DHDR="c.h"', "-DHDR=<a.h>"]
            return "#if __has_include(HDR)\n#include HDR\n#endif\n"
        if form < 0.80:
            return directive(rng, f'@W/{rng.choice(["d0", "now", "prog"])}/{name}')
        if form < 0.85:
            self.defines = [f"-DROOT=@W/d{rng.randrange(3)}"]
            return f"#define STR2(x) #x\n#define STR(x) STR2(x)\n#include STR(ROOT/{name})\n"
        if form < 0.92:
            return directive(rng, f"../d{rng.randrange(3)}/{name}")
        self.headers = [("mem.h", self.memory(bodies, "mem.h"))]
        return '#include "mem.h"\n'

    def memory(self, bodies, name):
        text = "#pragma once\n" if self.rng.random() < 0.5 else ""
        return text + f"#undef V_M\n#define V_M {self.rng.randint(1, 9)}\n" + (
            directive(self.rng, self.rng.choice(NAMES[1:])) if name == "mem.h" or self.rng.random() < 0.3 else "")

    def make_options(self):
        rng = self.rng
        options = [rng.choice(["-arch=compute_90"] * 3 + ["-arch=sm_90"] * 2)]
        options += rng.choice([[]] * 6 + [["-lineinfo"], ["-lineinfo"], ["-G"], ["-dlto"], ["-dlto"], ["-w"],
                                         ["--no-source-include"], ["-optix-ir"]])
        for place in rng.sample(["d0", "d1", "d2", "now", "missing", ".", "d0/sub", "cwd0"], rng.choice([0, 1, 2, 2, 3, 3])):
            spelling = rng.choice(["@W/{}"] * 5 + ["../{}", "../{}", "@W/{}/", "../{}/", "@W/./{}", "@W//{}",
                                                 "@W/prog/../{}", "../cwd0/../{}"])
            if place == ".":
                spelling = rng.choice(["@W", ".", "..", "@W/"])
            form = rng.choice(["-I{}", "-I{}", "-I={}", "-I {}", "--include-path={}", "--include-path {}"])
            options += form.format(spelling.format(place)).split(" ")
        if self.defines:
            options.append(rng.choice(self.defines))
        if rng.random() < 0.3:
            options.append(f"-DX={rng.randint(1, 2)}")
        if rng.random() < 0.08:
            options.append("--pre-include=" + rng.choice(["a.h", "b.h", "sub/c.h", "@W/d1/b.h"]))
        return options

    def reads(self, world):
        """Roughly what NVRTC reads of it and looks for in vain: (present, absent), paths as they begin with @T."""
        place = world.at(self.cwd if self.cwd != "/gone/" else ".")
        words = [word.replace("@W", f"@T/{world.tree}") for word in self.options]
        search, waiting = [], False
        for word in words:
            match = re.match(r"(?:-I|--include-path)=?(.*)", word)
            if waiting or (match and match.group(1)):
                search.append(join(place, word if waiting else match.group(1)))
            waiting = bool(match) and not match.group(1) and not waiting
        name = "" if self.name in ("NULL", "/new/") else self.name.replace("@W", f"@T/{world.tree}")
        search.insert(0, join(place, os.path.dirname(name)))
        present, absent = [], [f"{place}/{header}" for header, _ in self.headers]
        texts = [(search[0], self.source + " ".join(words) + "".join(text for _, text in self.headers))]
        while texts and len(present) < 12:
            beside, text = texts.pop(0)
            for header in re.findall(r"[\w./@]*\w\.h", text.replace("@W", f"@T/{world.tree}")):
                for directory in [beside] + search:
                    path = os.path.normpath(join(directory, header))
                    if path.startswith("@T/") and path not in present:
                        if os.path.isfile(world.real(path)):
                            present.append(path)
                            texts.append((os.path.dirname(path), world.text(path)))
                            break
                        absent.append(path)
        return present, [path for path in absent if path.startswith(f"@T/{world.tree}/")]

    def changed_options(self):
        """The same program, asked otherwise."""
        before, self.options = self.options, self.make_options()
        changed, self.options = self.options, before
        return changed
