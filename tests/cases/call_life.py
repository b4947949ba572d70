# SPDX-License-Identifier: MIT
"""A host in the middle of a sequence of calls: which calls it can make, and the player's commands for them.

A sequence is a list of calls, each a tuple (random_calls.py, call_world.py). Life.take() tells the commands for the
next call, or None where no host must make it then. So a sequence can be cut anywhere and go on another way.
"""

SLOTS = 4
SETTLE = "settle 40"  # the kernel's clock for file times is 10 ms late at most, twice that counts as too new
DIRECTORIES = ["@T/d0", "@T/d1", "@T/c0", "@T/c0/sub", "@T/c1"]
FILES = ["@T/d0/h.h", "@T/d1/h.h", "@T/c0/h.h", "@T/c0/sub/h.h", "@T/c0/first.h"]
LOOSE = ("-v", "--verbose", "=-v")  # what ptxas then says has a run time in it


def header(path, version):
    if "first" in path:
        return f"#define X {version + 5}\n"
    if version == 3:
        return "#error the header says no\n"
    # of one size, so that only times and content tell them apart
    return f"#define H {FILES.index(path)}{version}\n" + ("#pragma once\n" if version == 2 else "#pragma  one\n")


class Handle:
    def __init__(self, number, loose):
        self.number, self.names = number, []
        self.loose = loose  # the length of what it holds may differ from process to process


class Life:
    """The host in the middle of a sequence: what it holds, and so which calls it can make."""

    def __init__(self, world):
        self.world, self.slots, self.current = world, {}, 0
        self.commands, self.files, self.kinds, self.counted = [], dict(world.files), set(), False

    def alive(self, slot):
        return isinstance(self.slots.get(slot), Handle)

    def program(self):
        return self.slots[self.current] if self.alive(self.current) else None

    def take(self, call):
        commands = getattr(self, "take_" + call[0].replace("-", "_"), self.take_any)(*call)
        self.commands += commands or []
        return commands

    def end(self):
        """Everything once more, and the end."""
        commands = []
        for slot in [slot for slot in range(SLOTS) if self.alive(slot)]:
            commands += [f"use {slot}", "all"] + [f"lowered {name}" for name in sorted(set(self.slots[slot].names))]
            commands += ["destroy"]
        return commands

    def take_create(self, _, slot, number):
        program = self.world.programs[number]
        # module ids have the process's number in them
        self.slots[slot] = Handle(number, program.kind == "alone")
        self.current = slot
        self.kinds.add(program.kind)
        return [*program.commands, f"create {slot}"]

    def take_create_badly(self, _, how):
        kernel = 'source <<\nextern "C" __global__ void k(int *p) { }\nEND'
        return {
            "source": ["source NULL", "create"],
            "twice": [kernel, "header a.h <<\nEND", "header a.h <<\nEND", "create"],
            "names": [kernel, "header a.h <<\nEND", "create-with 1 given NULL"],
            "count": [kernel, "create-with -1 given given"],
            "nowhere": [kernel, "create-nowhere"],
        }[how]

    def take_use(self, _, slot):
        if not self.alive(slot) and slot in self.slots:
            return None  # destroyed
        self.current = slot
        return [f"use {slot}"]

    def take_destroy(self, _):
        if not self.program():
            return None
        self.slots[self.current] = None
        return ["destroy"]

    def take_destroy_null(self, verb):
        return [verb]

    take_destroy_empty = take_destroy_null

    def take_compile(self, verb, options):
        if not self.program():
            return None
        self.program().loose |= any(word.endswith(LOOSE) for word in options.split())
        return [f"{verb} {options}"]

    def take_elsewhere(self, _, where, options):
        return self.take_compile(f"{where} compile", options)

    def take_compile_count(self, verb, count, options):
        return self.take_compile(verb, f"{count} {options}") if count <= len(options.split()) else None

    def take_compile_null(self, verb):
        return [verb]

    def take_stop_late(self, _, calls, options):
        commands = self.take_compile("compile", options)
        return commands and [f"callback {calls}", *commands, "callback none"]

    def take_callback(self, verb, calls):
        self.counted |= calls != "NULL" and self.alive(self.current)
        return self.take_any(verb, calls)

    def take_called(self, verb):
        return [verb] if self.counted else None

    def null_refused(self):
        """Older releases crash over a null expression, and over a name asked of no program."""
        return self.world.release >= (12, 4)

    def take_add(self, verb, expression):
        if not self.program() or (expression == "NULL" and not self.null_refused()):
            return None
        self.program().names.append(expression)
        return [f"{verb} {expression}"]

    def take_lowered(self, verb, expression):
        null = expression == "NULL" or not self.program()
        return None if null and not self.null_refused() else self.take_any(verb, expression)

    def take_sizes(self, verb):
        return self.take_any("all" if self.program() and self.program().loose else verb)

    def take_edit(self, _, path, version, aged, settled):
        if self.files[path] is None and version is None:
            return None
        self.files[path] = version
        if version is None:
            commands = [f"unlink {path}"]
        else:
            commands = [f"write {path} <<\n{header(path, version)}END"] + [f"age {path} {version}"] * aged
        return commands + [SETTLE] * settled

    def take_any(self, *words):
        """Whatever asks, or changes nothing that matters here."""
        if words[0] not in ("errors", "version", "architectures", "heap", "bundled", "chdir") and \
                not self.alive(self.current) and self.current in self.slots:
            return None
        return [" ".join(words)]


def plant(now, wanted):
    """From the headers of one moment to those of another."""
    commands = []
    for path in FILES:
        if now.get(path) != wanted[path]:
            commands += [f"unlink {path}"] if wanted[path] is None else \
                [f"write {path} <<\n{header(path, wanted[path])}END", f"age {path} {wanted[path]}"]
    return commands + [SETTLE] * bool(commands)
