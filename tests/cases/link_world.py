# SPDX-License-Identifier: MIT
"""Makes sequences of calls of nvJitLink and libNVVM at random (random_links.py).

A world has a few inputs of each kind and a few sets of options. Sequences go on as others did and then another way.
What no host may do is left out: an Add after Complete crashes some releases, and so does a symbol that is there twice,
in a process that linked one that is nowhere. The number of an error in nvJitLink's log hangs on what failed before in
the process: a run has inputs that Add refuses, or symbols that are nowhere, not both.
"""
SLOTS = 3
KERNEL = """.visible .entry k{0}(.param .u64 p)
{{
.reg .b64 %rd<2>;
.reg .b32 %r<2>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, {0};
st.global.u32 [%rd1], %r1;
ret;
}}
"""
CALLER = """.extern .func (.param .b32 r) f{0}(.param .b32 a);
.visible .entry c{0}(.param .u64 p)
{{
.reg .b64 %rd<2>;
.reg .b32 %r<2>;
ld.param.u64 %rd1, [p];
{{
.param .b32 x;
.param .b32 y;
st.param.b32 [x], 7;
call.uni (y), f{0}, (x);
ld.param.b32 %r1, [y];
}}
st.global.u32 [%rd1], %r1;
ret;
}}
"""
FUNCTION = """.visible .func (.param .b32 r) f{0}(.param .b32 a)
{{
.reg .b32 %r<3>;
ld.param.b32 %r1, [a];
mul.lo.s32 %r2, %r1, {1};
st.param.b32 [r], %r2;
ret;
}}
"""
MODULE = """define void @m{0}(i32* %p) {{
  store i32 {0}, i32* %p
  ret void
}}
!nvvm.annotations = !{{!0}}
!0 = !{{void (i32*)* @m{0}, !"kernel", i32 1}}
"""
HELPER = """define i32 @h{0}(i32 %a) {{
  %b = mul i32 %a, {1}
  ret i32 %b
}}
"""
SOURCE = 'extern "C" __global__ void s{0}(int *p) {{ *p = {0}; }}\n'
# name: (type for nvJitLink or None, the symbols that it has, whether it goes with -lto only)
LINKER_INPUTS = {
    "kernel": ("ptx", "k", False), "caller": ("ptx", "c", False), "three": ("ptx", "f", False),
    "five": ("ptx", "f", False), "fat": ("fatbin", "f", False), "object": ("object", "f", False),
    "library": ("library", "f", False), "lto": ("ltoir", "m", True), "source": ("ltoir", "s", True),
    "bad": ("ptx", "", False),
}
MODULES = {"module": "m", "three-ir": "h", "five-ir": "h", "bad-ir": "", "device": "device"}
LINKER_OPTIONS = ["-arch=sm_90", "-arch=sm_90", "-arch=sm_80", "-arch=sm_90 -lto", "-arch=sm_90 -lto",
                  "-arch=sm_90 -lto -ptx", "-arch=sm_90 -lineinfo", "-lto -arch=sm_90 -O0", "--bogus"]
NVVM_OPTIONS = ["-arch=compute_80", "-arch=compute_80", "-arch=compute_75", "-arch=compute_80 -ftz=1", "", "-opt=0",
                "-arch=compute_80 -gen-lto", "-g -arch=compute_80", "--bogus"]


def text(kind, name, *parts):
    return [f"input {kind} {name} <<\n{''.join(parts)}END"]


class World:
    def __init__(self, rng, number, refused):
        self.rng, self.refused, self.sequences = rng, refused, []
        self.options = rng.sample(LINKER_OPTIONS, 3) + ["-arch=sm_90", "-arch=sm_90 -lto"]
        self.nvvm_options = rng.sample(NVVM_OPTIONS, 3)
        number += 9000
        self.commands = [
            *text("ptx", "kernel", KERNEL.format(number)), *text("ptx", "caller", CALLER.format(number)),
            *text("ptx", "three", FUNCTION.format(number, 3)), *text("ptx", "five", FUNCTION.format(number, 5)),
            "input fatbin fat ptx 80 three", "input object object fat", "input archive library object",
            *text("ptx", "bad", f"nonsense {number};\n"), *text("ir", "module", MODULE.format(number)),
            *text("ir", "three-ir", HELPER.format(number, 3)), *text("ir", "five-ir", HELPER.format(number, 5)),
            *text("ir", "bad-ir", f"nonsense {number}\n"), "input libdevice device",
            "nvvm use 7", "nvvm create", "nvvm add lto module", "nvvm compile -arch=compute_80 -gen-lto",
            "nvvm keep lto", "nvvm destroy", "nvvm use 0",
            f"source <<\n{SOURCE.format(number)}END", "create", "compile -arch=compute_80 -dlto",
            "input made source LTOIR", "destroy"]

    def inputs(self):
        return [name for name in LINKER_INPUTS if name != ("caller" if self.refused else "bad")]

    def call(self):
        rng, slot = self.rng, self.rng.randrange(SLOTS)
        kind = rng.choices(["create", "add", "complete", "get", "destroy", "p-create", "p-add", "p-work", "p-get",
                            "p-destroy"], [4, 18, 8, 7, 1, 3, 8, 12, 6, 1])[0]
        word = {
            "create": lambda: rng.choice(self.options), "add": lambda: rng.choice(self.inputs()),
            "get": lambda: rng.choice(["all", "logs", "sizes", "all"]),
            "p-add": lambda: (rng.choice(sorted(MODULES)), rng.choice(["add", "add", "lazy"])),
            "p-work": lambda: (rng.choice(["verify", "compile", "compile"]), rng.choice(self.nvvm_options)),
            "p-get": lambda: rng.choice(["all", "sizes"]),
        }.get(kind, lambda: "")()
        return kind, slot, word

    def sequence(self):
        """-> commands"""
        rng = self.rng
        old = rng.choice(self.sequences) if self.sequences and rng.random() < 0.8 else []
        calls = list(old)[:rng.randint(0, len(old))]
        life, made = Life(), []
        for call in calls:
            if life.take(call):
                made.append(call)
        while len(made) < 14:
            call = self.call()
            if life.take(call):
                made.append(call)
        self.sequences = (self.sequences + [made])[-12:]
        return self.commands + life.commands + life.end()


class Life:
    """A host in the middle of a sequence: which calls it can make."""

    def __init__(self):
        self.links, self.programs, self.commands = {}, {}, []

    def take(self, call):
        kind, slot, word = call
        made = getattr(self, "take_" + kind.replace("-", "_"))(slot, word)
        if made:
            self.commands += [f"{'nvvm' if kind.startswith('p-') else 'linker'} use {slot}", *made]
        return made

    def take_create(self, slot, options):
        if slot in self.links:
            return None
        self.links[slot] = {"options": options, "symbols": "", "state": "bad" if "--bogus" in options else "open"}
        return [f"linker create {options}"]

    def take_add(self, slot, name):
        link = self.links.get(slot)
        kind, symbols, lto = LINKER_INPUTS[name]
        if not link or link["state"] != "open" or (lto and "-lto" not in link["options"]) or \
                (symbols and symbols in link["symbols"]):
            return None
        link["symbols"] += symbols
        return [f"linker add {kind} {name} {name}" + (" inside" if kind == "ptx" else "")]

    def take_complete(self, slot, _):
        link = self.links.get(slot)
        # one that has nothing but -lto crashes 12.4
        if not link or link["state"] == "bad" or not link["symbols"]:
            return None
        link["state"] = "complete"
        return ["linker complete"]

    def take_get(self, slot, word):
        return [f"linker {word}"] if slot in self.links else None

    def take_destroy(self, slot, _):
        if slot not in self.links or ("-lto" in self.links[slot]["options"] and not self.links[slot]["symbols"]):
            return None
        del self.links[slot]
        return ["linker destroy"]

    def take_p_create(self, slot, _):
        if slot in self.programs:
            return None
        self.programs[slot] = set()
        return ["nvvm create"]

    def take_p_add(self, slot, word):
        name, how = word
        if slot not in self.programs or (name == "device" and how == "add"):
            return None
        return [f"nvvm {how} {name} {name}"]

    def take_p_work(self, slot, word):
        return [f"nvvm {word[0]} {word[1]}"] if slot in self.programs else None

    def take_p_get(self, slot, word):
        return [f"nvvm {word}"] if slot in self.programs else None

    def take_p_destroy(self, slot, _):
        if slot not in self.programs:
            return None
        del self.programs[slot]
        return ["nvvm destroy"]

    def end(self):
        commands = []
        for slot, link in self.links.items():
            commands += [f"linker use {slot}", "linker all"]
            if link["symbols"] or "-lto" not in link["options"]:
                commands.append("linker destroy")
        for slot in self.programs:
            commands += [f"nvvm use {slot}", "nvvm all", "nvvm destroy"]
        return commands
