# SPDX-License-Identifier: MIT
"""Random --pch sessions: several programs in one process share precompiled headers, and what it stores must be what each
of them gives alone (random_tests.py).

Programs have one of a few beginnings, so that NVRTC uses one program's precompiled header for another. What went into
it differs between them: headers in memory and on disk of one name, nested ones, absent names, __has_include, the length
of paths, the program's name, the working directory, and edits between them. NVRTC compares few of these, so a program's
result in the process is often not its own. After each program, a fresh process with the cache must give what a fresh one
without it gives. Logs are not compared, because they report what the process did before.
"""
from edit_program import SETTLE
from players import Play, Unserved, compare

DIRECTORIES = ("w", "w/sub", "longer", "longer/sub", "i", "i/sub")
NAMES = ("a.h", "b.h", "opt.h", "sub/c.h")
BEGINNINGS = (
    '#include "a.h"\n', '#include "a.h"\n#include "b.h"\n', "#include <a.h>\n", '#include "sub/c.h"\n#include "a.h"\n',
    '#if __has_include("opt.h")\n#define OPT 1\n#endif\n#include "a.h"\n', "")
PROGRAMS = ("NULL", "NULL", "NULL", "k.cu", "other.cu", "much-longer-name.cu", "@T/w/k.cu", "@T/longer/k.cu", "sub/k.cu")
BODY = """#ifndef A
#define A 0
#endif
#ifndef B
#define B 0
#endif
#ifndef C
#define C 0
#endif
#ifndef OPT
#define OPT 0
#endif
template <int n> __global__ void t(int *p) { *p = n + A; }
extern "C" __global__ void k(int *p) { p[0] = A; p[1] = B; p[2] = C; p[3] = OPT; p[4] = %d; }
"""


class Pch(Play):
    SENTENCES = ("Whatever went into a precompiled header, a fresh process gets its own program's result.",)
    PROOF = "Results of precompiled headers were stored and were hits, others were refused."
    KINDS = ["L: stored", "L: stored, using", "L: not cached", "F: hit on disk"]
    STEPS, ROUNDS, SECONDS, LEAST = 12, 10**9, 45, 60

    def header(self, name):
        letter = {"a.h": "A", "b.h": "B", "opt.h": "OPT", "sub/c.h": "C"}[name]
        value = self.rng.choice(("1", "2", "3", "sizeof(__FILE__)", "sizeof(__BASE_FILE__)"))
        text = self.rng.choice(("", "#pragma once\n"))
        if name != "b.h" and self.rng.random() < 0.3:
            text += self.rng.choice(('#include "b.h"\n', "#include <b.h>\n", '#if __has_include("opt.h")\n#define OPT 2\n#endif\n'))
        if value.startswith("sizeof"):  # not by a macro, which would be evaluated in the program
            text += f"static const int {letter.lower()}_size = {value};\n"
            value = f"{letter.lower()}_size"
        return f"{text}#undef {letter}\n#define {letter} {value}\n"

    def begin(self):
        commands = [f"mkdir @T/{directory}" for directory in DIRECTORIES]
        for directory in ("w", "longer", "i"):
            commands += [self.write(directory, name) for name in NAMES if self.rng.random() < 0.6]
        self.change(commands)
        self.memory = [{name: self.header(name) for name in NAMES if self.rng.random() < 0.4} for _ in range(2)] + [{}, {}]
        self.number, self.picked = 0, {}

    def write(self, directory, name):
        return f"write @T/{directory}/{name} <<\n{self.header(name)}END"

    def change(self, commands):
        self.arms.change(self.arms.record("edit", "", [*commands, SETTLE]))

    def edit(self):
        directory, name = self.rng.choice(("w", "longer", "i")), self.rng.choice(NAMES)
        commands = [self.write(directory, name)]
        if self.rng.random() < 0.3:
            commands.append(f"unlink @T/{directory}/{name}")
        self.change(commands)

    def program(self):
        commands = [f"chdir @T/{self.pick('directory', ('w', 'longer'))}", f"name {self.pick('name', PROGRAMS)}"]
        headers = self.pick("memory", self.memory)
        if self.rng.random() < 0.1:
            name = self.rng.choice(NAMES)
            headers = {**headers, name: self.header(name)}
        commands += [f"header {name} <<\n{text}END" for name, text in headers.items()]
        self.number += self.rng.random() < 0.8
        commands += [f"source <<\n{self.pick('beginning', BEGINNINGS)}{BODY % self.number}END", "create"]
        commands += ["add t<5>"] * (self.rng.random() < 0.3)
        include = self.pick("include", ("i", "longer"))
        option = self.pick("option", ("", "", " -DX=1", " -maxrregcount=32", " -w"))
        return [*commands, f"compile -arch=sm_86 --pch -I@T/i -I@T/{include}{option}"]

    def pick(self, what, values):
        """Mostly as in the program before, because a precompiled header is used again only where most is alike."""
        if what not in self.picked or self.rng.random() < 0.2:
            self.picked[what] = self.rng.choice(values)
        return self.picked[what]

    def step(self, number):
        if number and self.rng.random() < 0.25:
            self.edit()
        commands = self.program()
        self.arms.record(f"{number}", "LF", [*commands, "code", "destroy"])
        said = self.ask("L", [*commands, "get ProgramLog", "destroy"], self.arms.player("L"))
        outcome = self.outcome("L")
        self.count[f"L: {outcome}, using"] += any("using precompiled header" in line for line in said)
        plain, fresh = self.arms.start("P"), self.arms.fresh()
        expected = self.ask("P", [*commands, "code", "destroy"], plain)
        compare("F", expected, self.ask("F", [*commands, "code", "destroy"], fresh))
        self.outcome("F")
        for player in (plain, fresh):
            player.close()

    def outcome(self, arm):
        kinds = [outcome.kind for outcome in self.arms.outcomes(arm)]
        if len(kinds) != 1:
            raise Unserved(f"the log does not have a line for a compile: {kinds}")
        kind = kinds[0].split(":")[0]
        self.count[f"{arm}: {kind}"] += 1
        return kind

    def ask(self, arm, commands, player):
        player.send(commands)
        said = player.receive()
        self.count.update(f"{arm}: {line.strip()}" for line in said if line.startswith("  compile "))
        return said
