# SPDX-License-Identifier: MIT
"""A host in the middle of a sequence of calls: which calls it can make, and the player's commands for them
(call_world.py).
"""
import random

SLOTS = 4
SETTLE = "settle 40"  # the kernel's clock for file times is 10 ms late at most, twice that counts as too new
DIRECTORIES = ["@T/d0", "@T/d1", "@T/c0", "@T/c0/sub", "@T/c1"]
FILES = ["@T/d0/h.h", "@T/d1/h.h", "@T/c0/h.h", "@T/c0/sub/h.h", "@T/c0/first.h"]
PRODUCTS = ["PTX", "CUBIN", "NVVM", "LTOIR", "OptiXIR", "TileIR", "ProgramLog"]
BAD_EXPRESSIONS = ["nope<int>", "\\e", "t<", "nobody"]
REFUSED = ["--bogus", "-arch=sm_12", "-arch=SM_80", "--arch=sm_80", "-arch= sm_80", "-arch\\_sm_80", "--std c++17",
           "-std=c++99", "\\e", "\\_", "@file", "-D1X=1", "-optix-ir -dlto", "-I", "-maxrregcount=many"]
KERNEL = 'source <<\nextern "C" __global__ void k(int *p) { }\nEND'
BAD_CREATES = [["source NULL", "create"], [KERNEL, "header a.h <<\nEND", "header a.h <<\nEND", "create"],
               [KERNEL, "header a.h <<\nEND", "create-with 1 given NULL"], [KERNEL, "create-with -1 given given"],
               [KERNEL, "create-nowhere"]]
LOOSE = ("-v", "--verbose", "=-v")  # what ptxas then says has a run time in it
DEBUG = ("-G", "--device-debug")  # PTX then has names as numbers, and so module ids that the player does not find


def header(path, version):
    if "first" in path:
        return f"#define X {version + 5}\n"
    if version == 3:
        return "#error the header says no\n"
    # of one size, so that only times and content tell them apart
    return f"#define H {FILES.index(path)}{version}\n" + ("#pragma once\n" if version == 2 else "#pragma  one\n")


class Handle:
    def __init__(self, program):
        self.program, self.names = program, []
        # Whether the length of what it holds may differ: module ids have the process's number in them.
        self.loose = program.kind == "alone"


class Life:
    """A host in the middle of a sequence: what it holds, and so which calls it can make."""

    def __init__(self, world):
        self.world, self.slots, self.current = world, {}, 0
        self.commands, self.files, self.kinds, self.counted = [], dict(world.files), set(), False

    def alive(self, slot):
        return isinstance(self.slots.get(slot), Handle)

    def handle(self):
        return self.slots[self.current] if self.alive(self.current) else None

    def take(self, kind, number):
        """Makes a call, unless no host must make it now."""
        commands = getattr(self, f"call_{kind}")(random.Random(number))
        self.commands += commands or []
        return bool(commands)

    def end(self):
        """Everything once more, and the end."""
        commands = []
        for slot in [slot for slot in range(SLOTS) if self.alive(slot)]:
            commands += [f"use {slot}", "all"] + [f"lowered {name}" for name in sorted(set(self.slots[slot].names))]
            commands += ["destroy"]
        return commands

    def call_create(self, rng):
        if rng.random() < 0.06:
            return rng.choice(BAD_CREATES)
        # a slot that has a program is taken rarely: the program in it is never destroyed
        free = [slot for slot in range(SLOTS) if not self.alive(slot)]
        self.current = rng.choice(free if free and rng.random() < 0.9 else range(SLOTS))
        program = self.world.programs[rng.choice([0, 0, 0, 1, 1, 2, 2, 3])]
        self.slots[self.current] = Handle(program)
        self.kinds.add(program.kind)
        return [*program.commands, f"create {self.current}"]

    def call_use(self, rng):
        alive = [slot for slot in range(SLOTS) if self.alive(slot)]
        slot = rng.choice(alive if alive and rng.random() < 0.95 else range(SLOTS))
        if not self.alive(slot) and slot in self.slots:
            return None  # destroyed
        self.current = slot
        return [f"use {slot}"]

    def call_destroy(self, rng):
        verb = rng.choice(["destroy"] * 6 + ["destroy-null", "destroy-empty"])
        if verb == "destroy":
            if not self.handle():
                return None
            self.slots[self.current] = None
        return [verb]

    def call_compile(self, rng):
        options = rng.choice(self.world.options) if rng.random() < 0.93 else self.world.make_options(rng)
        form = rng.random()
        if form < 0.86:
            return self.compile("compile", options)
        if form < 0.90:
            return self.compile(f"{rng.choice(['thread', 'child'])} compile", options)
        if form < 0.93:  # cancelled late
            commands = self.compile("compile", f"{options} -DLATE={rng.getrandbits(30)}")
            return commands and [f"callback {rng.choice([2, 3, 5, 10])}", *commands, "callback none"]
        if form < 0.96:
            return self.compile("compile", rng.choice(REFUSED + ["NULL"] * 4))
        count = rng.choice([-1, -1, 0, 1, len(options.split())])
        if rng.random() < 0.2:
            return ["compile-null"]
        return self.compile(f"compile-count {count}", options) if count <= len(options.split()) else None

    def compile(self, verb, options):
        if not self.handle():
            return None
        if self.handle().program.kind == "alone":
            options = " ".join("-w" if word in DEBUG else word for word in options.split(" "))
        self.handle().loose |= any(word.endswith(LOOSE) for word in options.split())
        return [f"{verb} {options}"]

    def expression(self, rng):
        """None: older releases crash over a null expression, and over a name asked of no program."""
        known = self.handle().program.expressions if self.handle() else ["k"]
        expression = rng.choice(known if rng.random() < 0.93 else BAD_EXPRESSIONS + ["NULL"])
        refused = expression == "NULL" or not self.handle()
        return None if refused and self.world.release < (12, 4) else expression

    def call_add(self, rng):
        expression = self.expression(rng)
        if not self.handle() or not expression:
            return None
        self.handle().names.append(expression)
        return [f"add {expression}"]

    def call_lowered(self, rng):
        expression = self.expression(rng)
        return self.ask(f"lowered {expression}") if expression else None

    def call_get(self, rng):
        call = rng.choice(["all", "all", "sizes", "code", "null", "get", "thread all", "child all"])
        if call == "get":
            call = f"get {rng.choice(PRODUCTS)}"
        return self.ask("all" if call == "sizes" and self.handle() and self.handle().loose else call)

    def call_callback(self, rng):
        calls = rng.choice(["none", "1", "1", "NULL"])
        self.counted |= calls != "NULL" and self.alive(self.current)
        return self.ask(f"callback {calls}")

    def call_edit(self, rng):
        path = rng.choice(FILES + FILES[:1] * 4)
        if rng.random() < 0.1:
            return [f"chdir {rng.choice(['@T/c0', '@T/c1'])}"]
        version = rng.choice([0, 1, 1, 2, 2, 3, None])
        if self.files[path] is None and version is None:
            return None
        self.files[path] = version
        commands = [f"unlink {path}"] if version is None else [f"write {path} <<\n{header(path, version)}END"]
        commands += [f"age {path} {version}"] * (version is not None and rng.random() < 0.7)
        return commands + [SETTLE] * (rng.random() < 0.85)

    def call_other(self, rng):
        call = rng.choice(["errors -1 19", "version", "architectures", "heap", "called", "bundled info here"])
        if call == "called":
            return self.ask(call) if self.counted else None
        return [call]

    def ask(self, command):
        """What changes nothing that matters here, but is about a program."""
        return None if not self.alive(self.current) and self.current in self.slots else [command]


def plant(now, wanted):
    """From the headers of one moment to those of another."""
    commands = []
    for path in FILES:
        if now.get(path) != wanted[path]:
            commands += [f"unlink {path}"] if wanted[path] is None else \
                [f"write {path} <<\n{header(path, wanted[path])}END", f"age {path} {wanted[path]}"]
    return commands + [SETTLE] * bool(commands)
