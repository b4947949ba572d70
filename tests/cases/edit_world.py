# SPDX-License-Identifier: MIT
"""Trees of headers, and changes to them, at random (random_edits.py; edit_program.py: programs that include them).

A tree is a directory below @T with header directories d0 d1 d2, a program directory prog, working directories cwd0 and
cwd1, and symbolic links to directories (now, here). @W in a program is the tree of the moment, which moves. What is
there is read from the disk when it is needed, so a world has no state that could be wrong.
"""
import hashlib
import os
import stat

from edit_program import COMMON, PLACES, SETTLE, SLOTS, Bodies


class Nothing(Exception):
    pass


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

    def entries(self, wanted):
        """All in the tree whose real path passes, as paths, sorted."""
        root = self.real(self.at("."))
        found = [os.path.join(directory, name) for directory, directories, names in os.walk(root)
                 for name in directories + names]
        return sorted(path.replace(self.top, "@T") for path in found if wanted(path))

    def files(self):
        """Regular header files of the tree."""
        return self.entries(lambda path: stat.S_ISREG(os.lstat(path).st_mode))

    def likely(self):
        """Those that the program of the moment may well read, as paths."""
        if self.focus and self.rng.random() < 0.75:
            present = [path for path in self.focus.reads(self)[0] if not os.path.islink(self.real(path))]
            if present:
                return present
        return self.files()

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

    def one(self, paths):
        if not paths:
            raise Nothing
        return self.rng.choice(paths)

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

    def instead(self, path, command):
        """What is at this path goes, and its directory comes, before the command."""
        parents = self.parents(path)
        return [] if parents is None else parents + self.remove(path) + [command]

    def put(self, path, text):
        if not os.path.isfile(self.real(path)) or os.path.islink(self.real(path)):
            return self.instead(path, self.write(path, text))
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

    # Edits. Each returns commands, or finds nothing to do.

    def edit_put(self):
        path = self.spot()
        return self.put(path, self.bodies.draw(path))

    def edit_other_place(self):
        """A header of a name that is somewhere else too: earlier or later on the search path."""
        path = self.one(self.files())
        name = os.path.relpath(path, self.at(".")).split("/", 1)[-1]
        return self.put(self.at(f"{self.rng.choice(PLACES)}/{name}"), self.bodies.draw(name)) \
            if os.path.basename(name) in self.bodies.texts else []

    def edit_same_size(self):
        path = self.one([path for path in self.likely() if "#define V_" in self.text(path)])
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
        path = self.one(self.likely())
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
        return [f"age {self.one(self.likely())} 36500"]

    def edit_remove(self):
        return self.remove(self.one(self.likely()))

    def edit_directory(self):
        """A directory in the place of a header."""
        path = self.spot()
        return self.instead(path, f"mkdir {path}")

    def edit_undirectory(self):
        path = self.one(self.entries(lambda path: path.endswith(".h") and os.path.isdir(path)))
        return self.remove(path) + ([self.write(path, self.bodies.draw(path))] if self.rng.random() < 0.5 else [])

    def edit_alias(self):
        """One header under two names: link, hard link or copy."""
        files, path = self.likely(), self.spot()
        if self.rng.random() < 0.7:  # where it matters which file is which
            files = [name for name in files if "#pragma once" in self.text(name)] or files
        source = self.one(files)
        if f"unlink {source}" in self.remove(path):
            return []
        how = self.rng.choices(["hard", "absolute", "relative", "copy"], [35, 15, 15, 35])[0]
        return self.instead(path, {
            "hard": f"hard {source} {path}",
            "absolute": f"link {source} {path}",
            "relative": f"link {os.path.relpath(source, os.path.dirname(path))} {path}",
            "copy": self.write(path, self.text(source)),
        }[how])

    def edit_part(self):
        """A header that is one file with another is so no longer; its content stays."""
        path = self.one(self.entries(lambda path: os.path.isfile(path) and (
            os.path.islink(path) or os.lstat(path).st_nlink > 1)))
        return [self.write(path + ".new", self.text(path)), f"rename {path}.new {path}"]

    def edit_join(self):
        """Two headers of one content become one file."""
        files = {}
        for path in self.files():
            files.setdefault(self.text(path), []).append(path)
        one, other = self.rng.sample(self.one([paths for paths in files.values() if len(paths) > 1]), 2)
        return [f"unlink {other}", f"hard {one} {other}"]

    def edit_pwd(self):
        """$PWD is spelled otherwise for the program of the moment."""
        if self.focus:
            self.focus.pwd = self.rng.choice(["/here/", "cwd0", "cwd1", "here", ""])
        return []

    def edit_loop(self):
        path = self.spot()
        return self.instead(path, f"link {self.rng.choice(['nowhere.h', os.path.basename(path)])} {path}")

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
        self.tree = self.one([slot for slot in SLOTS if slot != self.tree
                              and os.path.isdir(self.real(f"@T/{slot}/prog"))])
        return []

    EDITS = [("put", 14), ("other_place", 12), ("same_size", 24), ("back", 16), ("touch", 5), ("time", 0.3),
             ("future", 0.5), ("remove", 10), ("directory", 2), ("undirectory", 6), ("alias", 10), ("part", 5),
             ("join", 4), ("pwd", 3), ("loop", 2), ("swap_link", 6), ("swap_directories", 2), ("no_directory", 3),
             ("move", 4), ("copy", 2), ("switch", 4)]

    def edit(self, name=None):
        if not name:
            names, weights = zip(*self.EDITS)
            name = self.rng.choices(names, weights)[0]
        try:
            commands = getattr(self, f"edit_{name}")()
        except Nothing:
            commands = []
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
