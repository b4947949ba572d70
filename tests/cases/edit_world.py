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
             ("future", 0.5), ("remove", 10), ("directory", 2), ("undirectory", 6), ("alias", 10), ("part", 5),
             ("join", 4), ("pwd", 3), ("loop", 2), ("swap_link", 6), ("swap_directories", 2), ("no_directory", 3),
             ("move", 4), ("copy", 2), ("switch", 4)]

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
