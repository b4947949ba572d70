# SPDX-License-Identifier: MIT
"""Builds with one file changed: that file is compiled, the rest is linked as it was built.

Environment (from mutants.mk): MUTANT_COMPILE, the compiler with its flags; MUTANT_LIBRARY and the others of LINKED, how
each product is linked, with OUTPUT for its name; empty where it is not built.
"""
import os
import shlex
import shutil
import subprocess

LINKED = {"libnvrtccache.so": "MUTANT_LIBRARY", "unit-tests": "MUTANT_UNITS", "nvrtccache": "MUTANT_COMMAND",
          "nvrtccache-agent": "MUTANT_AGENT"}
OUTSIDE_CORE = ("cli", "agent")


class Workshop:
    """A directory that looks like a build, for one worker."""

    def __init__(self, build, name):
        self.build = os.path.abspath(build)
        self.top = os.path.join(self.build, "mutants", name)
        os.makedirs(self.top, exist_ok=True)
        self.stand_in("tests")
        self.honest = {}

    def stand_in(self, name):
        """The build's own, under this name here. No symbolic link to a file: the command would find the library beside it there."""
        link, own = os.path.join(self.top, name), os.path.join(self.build, name)
        if os.path.lexists(link):
            os.unlink(link)
        if os.path.isdir(own):
            os.symlink(own, link)
        elif os.path.exists(own):
            os.link(own, link)

    def compile(self, unit, path, source):
        """The bytes of the object, or None where it does not compile. Its text stands where the file's own stands."""
        name, made = os.path.join(self.top, "changed.c"), self.object(unit)
        command = shlex.split(os.environ["MUTANT_COMPILE"])
        if path == unit:
            self.write(name, path, source)
        else:  # a header, found before the tree's
            self.write(os.path.join(self.top, path), path, source)
            with open(unit, encoding="utf-8") as file:
                self.write(name, unit, file.read())
            first = next(n for n, word in enumerate(command) if word.startswith("-"))  # CC may be of several words
            command[first:first] = ["-I", self.top]
        done = subprocess.run([*command, "-c", "-o", made, name], capture_output=True, check=False)
        if path != unit:
            os.unlink(os.path.join(self.top, path))
        if done.returncode:
            return None
        with open(made, "rb") as file:
            return file.read()

    @staticmethod
    def write(name, path, source):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(f'#line 1 "{path}"\n{source}')

    def object(self, path):
        return os.path.join(self.top, os.path.splitext(path)[0].replace("/", "-") + ".o")

    def make(self, unit, path, source):
        """Builds with this text in the place of the file's, which is the unit or a header of it: "built", "equivalent" or
        "does not compile"."""
        if (unit, path) not in self.honest:
            with open(path, encoding="utf-8") as file:
                self.honest[unit, path] = self.compile(unit, path, file.read())
        made = self.compile(unit, path, source)
        if made is None:
            return "does not compile"
        if made == self.honest[unit, path]:
            return "equivalent"
        self.link(unit)
        return "built"

    def link(self, path):
        ours = os.path.join(os.path.relpath(self.build), os.path.splitext(path)[0] + ".o")
        core = os.path.join(os.path.relpath(self.build), "core.a")
        in_core = path.split("/")[0] not in OUTSIDE_CORE
        archive = self.archive(path, ours) if in_core else core
        for product, rule in LINKED.items():
            words = shlex.split(os.environ[rule])
            if ours not in words and not (in_core and core in words):
                self.stand_in(product)
                continue
            new = os.path.join(self.top, product + ".new")
            instead = {ours: self.object(path), core: archive, "OUTPUT": new}
            command = [instead.get(word, word) for word in words]
            done = subprocess.run(command, check=False, capture_output=True)
            if done.returncode:
                raise RuntimeError(done.stderr.decode(errors="replace"))
            os.replace(new, os.path.join(self.top, product))

    def archive(self, path, ours):
        """core.a with the changed object in the place of ours. Folders have files of one name: its bytes tell which it is."""
        archive, name = os.path.join(self.top, "core.a"), os.path.basename(ours)
        shutil.copyfile(os.path.join(self.build, "core.a"), archive)
        with open(ours, "rb") as file:
            honest = file.read()
        members = subprocess.run(["ar", "t", archive], check=True, capture_output=True, text=True).stdout.split()
        for n in range(1, members.count(name) + 1):
            subprocess.run(["ar", "xN", str(n), archive, name], check=True, capture_output=True, cwd=self.top)
            with open(os.path.join(self.top, name), "rb") as file:
                member = file.read()
            os.unlink(file.name)
            if member == honest:
                subprocess.run(["ar", "dN", str(n), archive, name], check=True, capture_output=True)
                break
        subprocess.run(["ar", "qs", archive, self.object(path)], check=True, capture_output=True)
        return archive
