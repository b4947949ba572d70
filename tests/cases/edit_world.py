# SPDX-License-Identifier: MIT
"""Makes trees of headers, changes to them and programs that include them, at random (random_edits.py).

A tree is a directory below @T with header directories d0 d1 d2, a program directory prog, working directories cwd0 and
cwd1, and symbolic links to directories (now, here). @W in a program is the tree of the moment, which moves. What is
there is read from the disk when it is needed, so a world has no state that could be wrong.
"""
import hashlib
import os
import re
import stat

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


class World:
    def __init__(self, rng, top):
        self.rng, self.top = rng, top
        self.fresh_number = 0
        self.focus = None  # the program of the moment
        self.before = []  # (path, text) of headers that were edited, oldest first

    # What is there.

    def real(self, path):
        return path.replace("@T", self.top)

    def at(self, path):
        return os.path.normpath(f"@T/{self.tree}/{path}")

    def exists(self, path):
        return os.path.lexists(self.real(path))

    def files(self):
        """Regular header files of the tree, by their names in it."""
        found = []
        root = self.real(self.at("."))
        for directory, _, names in os.walk(root):
            found += [os.path.relpath(os.path.join(directory, name), root) for name in names]
        return sorted(name for name in found if stat.S_ISREG(os.lstat(os.path.join(root, name)).st_mode))

    def likely(self):
        """Those that the program of the moment may well read, as paths."""
        if self.focus and self.rng.random() < 0.75:
            present = [path for path in self.focus.reads(self)[0] if not os.path.islink(self.real(path))]
            if present:
                return present
        return [self.at(name) for name in self.files()]

    def text(self, path):
        with open(self.real(path)) as file:
            return file.read()

    def spot(self):
        """Where a header might be."""
        if self.focus and self.rng.random() < 0.7:
            present, absent = self.focus.reads(self)
            paths = [path for path in present + absent * 2 if os.path.basename(path) in self.bodies.texts]
            if paths:
                return self.rng.choice(paths)
        return self.at(f"{self.rng.choice(PLACES)}/{self.rng.choice(COMMON)}")

    # Commands.

    def remove(self, path):
        """Whatever is at this path, and all below."""
        if not self.exists(path):
            return []
        commands = []
        if os.path.isdir(self.real(path)) and not os.path.islink(self.real(path)):
            for name in sorted(os.listdir(self.real(path))):
                commands += self.remove(f"{path}/{name}")
        return commands + [f"unlink {path}"]

    def parents(self, path):
        commands, parent = [], os.path.dirname(path)
        while not self.exists(parent):
            commands.insert(0, f"mkdir {parent}")
            parent = os.path.dirname(parent)
        if not os.path.isdir(self.real(parent)):  # a header in the place of a directory
            return None
        return commands

    @staticmethod
    def write(path, text, how="write"):
        return f"{how} {path} <<\n{text}END"

    def put(self, path, text):
        parents = self.parents(path)
        if parents is None:
            return []
        if not os.path.isfile(self.real(path)) or os.path.islink(self.real(path)):
            return parents + self.remove(path) + [self.write(path, text)]
        if self.rng.random() < 0.5:
            return [self.write(path, text)]
        return [self.write(path + ".new", text), f"rename {path}.new {path}"]

    def plant(self):
        """A tree to begin with, and nothing else."""
        self.bodies, self.tree, self.before = Bodies(self.rng), "t0", []
        commands = []
        for name in sorted(os.listdir(self.top)):
            commands += self.remove(f"@T/{name}")
        commands += [f"mkdir {self.at('.')}"] + [f"mkdir {self.at(place)}" for place in PLACES]
        commands += [f"mkdir {self.at(place)}/sub" for place in ("d0", "d1", "prog")]
        for place, names in (("d0", "a.h b.h sub/c.h once.h c.h"), ("d1", "a.h c.h sub/a.h d.h once.h"),
                             ("d2", "b.h twice.h opt.h c.h"),
                             ("prog", "a.h sub/c.h b.h"), ("cwd0", "b.h once.h a.h"), ("cwd1", "c.h a.h")):
            for name in names.split():
                commands.append(self.write(self.at(f"{place}/{name}"), self.bodies.draw(name)))
        return commands + [f"link d0 {self.at('now')}", f"link cwd0 {self.at('here')}"]

    # Edits. Each returns commands, or [] where it finds nothing to do.

    def edit_put(self):
        path = self.spot()
        return self.put(path, self.bodies.draw(path))

    def edit_other_place(self):
        """A header of a name that is somewhere else too: earlier or later on the search path."""
        files = self.files()
        if not files:
            return []
        name = self.rng.choice(files).split("/", 1)[-1]
        return self.put(self.at(f"{self.rng.choice(PLACES)}/{name}"), self.bodies.draw(name)) \
            if os.path.basename(name) in self.bodies.texts else []

    def edit_same_size(self):
        files = [path for path in self.likely() if "#define V_" in self.text(path)]
        if not files:
            return []
        path = self.rng.choice(files)
        text = self.text(path)
        at = text.index(" ", text.index("#define V_") + 8) + 1
        text = text[:at] + str(self.rng.randint(1, 5)) + text[at + 1:]
        how = self.rng.random()
        if how < 0.4:
            return [self.write(path, text, "rewrite")]
        if how < 0.6:
            return [self.write(path, text), f"age {path} {self.rng.randint(0, 1)}"]
        return self.put(path, text)

    def edit_touch(self):
        files = self.likely()
        if not files:
            return []
        path = self.rng.choice(files)
        return [self.rng.choice([f"touch {path}", f"age {path} {self.rng.randint(0, 2)}"])]

    def edit_back(self):
        """What a recent edit did to the text of a header is undone."""
        while self.before:
            path, text = self.before.pop()
            if os.path.isdir(self.real(os.path.dirname(path))) and not (
                    os.path.isfile(self.real(path)) and self.text(path) == text):
                return self.put(path, text)
        return []

    def edit_time(self):
        path = self.spot()
        return self.put(path, self.bodies.draw(path) + "/* __TIME__ */\n")

    def edit_future(self):
        files = self.likely()
        return [f"age {self.rng.choice(files)} 36500"] if files else []

    def edit_remove(self):
        files = self.likely()
        return self.remove(self.rng.choice(files)) if files else []

    def edit_directory(self):
        """A directory in the place of a header."""
        path = self.spot()
        parents = self.parents(path)
        return parents + self.remove(path) + [f"mkdir {path}"] if parents is not None else []

    def edit_undirectory(self):
        root = self.real(self.at("."))
        found = sorted(os.path.relpath(os.path.join(directory, name), root)
                       for directory, names, _ in os.walk(root) for name in names if name.endswith(".h"))
        if not found:
            return []
        path = self.at(self.rng.choice(found))
        return self.remove(path) + ([self.write(path, self.bodies.draw(path))] if self.rng.random() < 0.5 else [])

    def edit_alias(self):
        """One header under two names: link, hard link or copy."""
        files, path = self.likely(), self.spot()
        parents = self.parents(path)
        if not files or parents is None:
            return []
        if self.rng.random() < 0.7:  # where it matters which file is which
            files = [name for name in files if "#pragma once" in self.text(name)] or files
        source = self.rng.choice(files)
        if source == path:
            return []
        how = self.rng.random()
        commands = parents + self.remove(path)
        if any(command == f"unlink {source}" for command in commands):
            return []
        if how < 0.35:
            return commands + [f"hard {source} {path}"]
        if how < 0.5:
            return commands + [f"link {source} {path}"]
        if how < 0.65:
            return commands + [f"link {os.path.relpath(source, os.path.dirname(path))} {path}"]
        return commands + [self.write(path, self.text(source))]

    def edit_part(self):
        """A header that is one file with another is so no longer; its content stays."""
        files = [self.at(name) for name in self.files()]
        files = [path for path in files if os.lstat(self.real(path)).st_nlink > 1]
        root = self.real(self.at("."))
        for directory, _, names in os.walk(root):
            files += [self.at(os.path.relpath(os.path.join(directory, name), root)) for name in sorted(names)
                      if os.path.islink(os.path.join(directory, name)) and os.path.isfile(os.path.join(directory, name))]
        if not files:
            return []
        path = self.rng.choice(files)
        return [self.write(path + ".new", self.text(path)), f"rename {path}.new {path}"]

    def edit_join(self):
        """Two headers of one content become one file."""
        files = {}
        for name in self.files():
            files.setdefault(self.text(self.at(name)), []).append(self.at(name))
        pairs = [paths for paths in files.values() if len(paths) > 1]
        if not pairs:
            return []
        one, other = self.rng.sample(self.rng.choice(pairs), 2)
        return [f"unlink {other}", f"hard {one} {other}"]

    def edit_pwd(self):
        """$PWD is spelled otherwise for the program of the moment."""
        if self.focus:
            self.focus.pwd = self.rng.choice(["/here/", "cwd0", "cwd1", "here", ""])
        return []

    def edit_loop(self):
        path = self.spot()
        parents = self.parents(path)
        if parents is None:
            return []
        return parents + self.remove(path) + [f"link {self.rng.choice(['nowhere.h', os.path.basename(path)])} {path}"]

    def edit_swap_link(self):
        name, targets = self.rng.choice([("now", ["d0", "d1", "d2", "missing"]), ("here", ["cwd0", "cwd1"])])
        path, target = self.at(name), self.rng.choice(targets)
        if self.rng.random() < 0.5:
            return self.remove(path) + [f"link {target} {path}"]
        return self.remove(path + ".new") + [f"link {target} {path}.new", f"rename {path}.new {path}"]

    def edit_swap_directories(self):
        one, other = self.rng.sample([name for name in ("d0", "d1", "d2") if self.exists(self.at(name))], 2)
        return [f"rename {self.at(one)} {self.at('swap')}", f"rename {self.at(other)} {self.at(one)}",
                f"rename {self.at('swap')} {self.at(other)}"]

    def edit_no_directory(self):
        """A search directory goes away, or comes back."""
        path, away = self.at("d2"), self.at("away")
        if self.exists(path):
            return self.remove(away) + [f"rename {path} {away}"]
        return [f"rename {away} {path}"]

    def edit_move(self):
        """The whole tree under another prefix."""
        target = self.rng.choice([slot for slot in SLOTS if slot != self.tree])
        path = f"@T/{target}"
        commands = self.remove(path) + (self.parents(path) or []) + [f"rename @T/{self.tree} {path}"]
        self.tree = target
        return commands

    def edit_copy(self):
        """The whole tree again, under another prefix."""
        target = self.rng.choice([slot for slot in SLOTS if slot != self.tree])
        commands = self.remove(f"@T/{target}") + (self.parents(f"@T/{target}") or [])
        commands += self.copy(f"@T/{self.tree}", f"@T/{target}")
        self.tree = target
        return commands

    def copy(self, source, target):
        real = self.real(source)
        if os.path.islink(real):
            return [f"link {os.readlink(real).replace(self.top, '@T')} {target}"]
        if os.path.isdir(real):
            commands = [f"mkdir {target}"]
            for name in sorted(os.listdir(real)):
                commands += self.copy(f"{source}/{name}", f"{target}/{name}")
            return commands
        return [self.write(target, self.text(source))]

    def edit_switch(self):
        """Back to a tree that was left."""
        there = [slot for slot in SLOTS if slot != self.tree and os.path.isdir(self.real(f"@T/{slot}/prog"))]
        if there:
            self.tree = self.rng.choice(there)
        return []

    EDITS = [("put", 14), ("other_place", 12), ("same_size", 24), ("back", 16), ("touch", 5), ("time", 0.3),
             ("future", 0.5), ("remove", 10),
             ("directory", 2), ("undirectory", 6), ("alias", 10), ("part", 5), ("join", 4), ("pwd", 3), ("loop", 2), ("swap_link", 6),
             ("swap_directories", 2), ("no_directory", 3), ("move", 4), ("copy", 2), ("switch", 4)]

    def edit(self, name=None):
        if not name:
            names, weights = zip(*self.EDITS)
            name = self.rng.choices(names, weights)[0]
        commands = getattr(self, f"edit_{name}")()
        for command in commands if name != "back" else []:
            path = command.split()[1]
            if command.startswith(("write", "rewrite", "unlink")) and os.path.isfile(self.real(path)):
                self.before.append((path, self.text(path)))
        return name, commands

    def signature(self, times):
        """All that a compile can see of the tree."""
        digest, files = hashlib.blake2b(digest_size=16), {}
        root = self.real(self.at("."))
        for directory, directories, names in os.walk(root):
            directories.sort()
            for name in sorted(names) + directories:
                path = os.path.join(directory, name)
                digest.update(f"{os.path.relpath(path, root)}\0{os.path.islink(path)}".encode())
                try:
                    status = os.stat(path)
                except OSError as error:
                    digest.update(f"E{error.errno}\0".encode())
                    continue
                number = files.setdefault((status.st_dev, status.st_ino), len(files))
                digest.update(f"{stat.S_IFMT(status.st_mode)} {number}\0".encode())
                if stat.S_ISREG(status.st_mode):
                    with open(path, "rb") as file:
                        digest.update(hashlib.blake2b(file.read()).digest())
                    digest.update(str(status.st_mtime_ns if times else 0).encode())
        return digest.hexdigest()

    # Compiling.

    def place(self, text, new):
        return text.replace("/new/", f"{new}/k.cu").replace("@W", f"@T/{self.tree}")

    def enter(self, program, settled):
        """To the program's place, with its source and headers, up to `create`."""
        new = f"@T/tmp{self.fresh_number}"
        commands = []
        if program.name == "/new/":
            self.fresh_number += 1
            commands.append(f"mkdir {new}")
            if self.rng.random() < 0.4:
                commands.append(self.write(f"{new}/a.h", self.bodies.draw("a.h")))
                commands += [SETTLE] if settled else []
        cwd = self.at(program.cwd)
        if program.cwd == "/gone/":
            cwd = f"@T/gone{self.fresh_number}"
            self.fresh_number += 1
            commands += [f"mkdir {cwd}", f"chdir {cwd}", f"unlink {cwd}"]
        else:
            commands.append(f"chdir {cwd}")
        pwd = cwd if program.pwd == "/here/" else self.at(program.pwd)
        commands.append(f"setenv PWD {pwd}" if program.pwd else "unsetenv PWD")
        commands.append("name " + self.place(program.name, new))
        for name, text in program.headers:
            commands.append(f"header {name} <<\n{self.place(text, new)}END")
        commands.append(f"source <<\n{self.place(program.source, new)}END")
        return commands + ["create"] + [f"add {expression}" for expression in program.expressions]

    def compile(self, program, options):
        commands = ["compile " + self.place(" ".join(options), ""), "all"]
        return commands + [f"lowered {expression}" for expression in program.expressions]
