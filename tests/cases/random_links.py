# SPDX-License-Identifier: MIT
"""Random sequences of calls of nvJitLink and libNVVM: every player must see what they give without the cache
(random_tests.py).

A world has a few inputs of each kind and a few sets of options. Sequences go on as others did and then another way.
What no host may do is left out: an Add after Complete crashes some releases, and so does a symbol that is there twice,
in a process that linked one that is nowhere. The number of an error in nvJitLink's log hangs on what failed before in
the process: a world has inputs that Add refuses, or symbols that are nowhere, not both.
"""
import random

from players import Play, Session

ORDERS = ["LF", "LF", "FL", "FL", "FF", "LV", "FV"]
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
MODULES = ["module", "three-ir", "five-ir", "bad-ir", "device"]
LINKER_OPTIONS = ["-arch=sm_90", "-arch=sm_90", "-arch=sm_80", "-arch=sm_90 -lto", "-arch=sm_90 -lto",
                  "-arch=sm_90 -lto -ptx", "-arch=sm_90 -lineinfo", "-lto -arch=sm_90 -O0", "--bogus"]
NVVM_OPTIONS = ["-arch=compute_80", "-arch=compute_80", "-arch=compute_75", "-arch=compute_80 -ftz=1", "", "-opt=0",
                "-arch=compute_80 -gen-lto", "-g -arch=compute_80", "--bogus"]


def text(kind, name, *parts):
    return [f"input {kind} {name} <<\n{''.join(parts)}END"]


class World:
    def __init__(self, rng):
        self.rng, self.refused, self.sequences = rng, rng.random() < 0.5, []
        self.options = rng.sample(LINKER_OPTIONS, 3) + ["-arch=sm_90", "-arch=sm_90 -lto"]
        self.nvvm_options = rng.sample(NVVM_OPTIONS, 3)
        number = 9000
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

    def call(self):
        """A kind, and a number that decides the rest."""
        weights = {"create": 4, "add": 18, "complete": 8, "get": 7, "destroy": 1,
                   "p_create": 3, "p_add": 8, "p_work": 12, "p_get": 6, "p_destroy": 1}
        return self.rng.choices(list(weights), weights.values())[0], self.rng.getrandbits(32)

    def sequence(self):
        """-> commands"""
        rng = self.rng
        old = rng.choice(self.sequences) if self.sequences and rng.random() < 0.8 else []
        life = Life(self)
        made = [call for call in old[:rng.randint(0, len(old))] if life.take(*call)]
        while len(made) < 14:
            call = self.call()
            made += [call] * life.take(*call)
        self.sequences = (self.sequences + [made])[-12:]
        return self.commands + life.commands + life.end()


class Life:
    """A host in the middle of a sequence: which calls it can make."""

    def __init__(self, world):
        self.world, self.links, self.programs, self.commands = world, {}, set(), []

    def take(self, kind, number):
        """Makes a call, unless no host must make it now."""
        rng = random.Random(number)
        slot = rng.randrange(SLOTS)
        made = None
        if kind.endswith("create") or slot in (self.programs if kind.startswith("p_") else self.links):
            made = getattr(self, f"call_{kind}")(slot, rng)
        if made:
            self.commands += [f"{'nvvm' if kind.startswith('p_') else 'linker'} use {slot}", made]
        return made is not None

    def call_create(self, slot, rng):
        if slot in self.links:
            return None
        options = rng.choice(self.world.options)
        self.links[slot] = {"options": options, "symbols": "", "state": "bad" if "--bogus" in options else "open"}
        return f"linker create {options}"

    def call_add(self, slot, rng):
        link = self.links[slot]
        name = rng.choice([name for name in LINKER_INPUTS if name != ("caller" if self.world.refused else "bad")])
        kind, symbols, lto = LINKER_INPUTS[name]
        if link["state"] != "open" or (lto and "-lto" not in link["options"]) or \
                (symbols and symbols in link["symbols"]):
            return None
        link["symbols"] += symbols
        return f"linker add {kind} {name} {name}" + (" inside" if kind == "ptx" else "")

    def call_complete(self, slot, _):
        link = self.links[slot]
        # one that has nothing but -lto crashes 12.4
        if link["state"] == "bad" or not link["symbols"]:
            return None
        link["state"] = "complete"
        return "linker complete"

    def call_get(self, _, rng):
        return f"linker {rng.choice(['all', 'logs', 'sizes', 'all'])}"

    def call_destroy(self, slot, _):
        if "-lto" in self.links[slot]["options"] and not self.links[slot]["symbols"]:
            return None
        del self.links[slot]
        return "linker destroy"

    def call_p_create(self, slot, _):
        if slot in self.programs:
            return None
        self.programs.add(slot)
        return "nvvm create"

    def call_p_add(self, _, rng):
        name, how = rng.choice(MODULES), rng.choice(["add", "add", "lazy"])
        return None if name == "device" and how == "add" else f"nvvm {how} {name} {name}"

    def call_p_work(self, _, rng):
        return f"nvvm {rng.choice(['verify', 'compile', 'compile'])} {rng.choice(self.world.nvvm_options)}"

    def call_p_get(self, _, rng):
        return f"nvvm {rng.choice(['all', 'sizes'])}"

    def call_p_destroy(self, slot, _):
        self.programs.remove(slot)
        return "nvvm destroy"

    def end(self):
        commands = []
        for slot, link in self.links.items():
            commands += [f"linker use {slot}", "linker all"]
            if link["symbols"] or "-lto" not in link["options"]:
                commands.append("linker destroy")
        for slot in sorted(self.programs):
            commands += [f"nvvm use {slot}", "nvvm all", "nvvm destroy"]
        return commands


class Links(Play):
    SENTENCES = ("In every sequence of calls, each player gives what nvJitLink and libNVVM give.",
                 "Every hit that was compiled too was right.")
    LIBRARIES = ("NVRTC_LIB", "NVJITLINK_LIB", "NVVM_LIB")
    PROOF = "Memory and disk both gave hits."
    STEPS, ROUNDS, SECONDS, LEAST = 16, 200, 30, 40

    def begin(self):
        self.world = World(self.rng)

    def step(self, number):
        if self.rng.random() < 0.12:
            self.arms.forget(number, self.rng.choice(["restart", str(self.rng.randrange(5))]))
        order = self.rng.choice(ORDERS)
        commands = self.arms.record(f"{number} sequence", order, self.world.sequence())
        with Session(self.arms, order) as session:
            for arm, outcomes in zip(order, session.ask(commands)):
                for outcome in outcomes:
                    self.count[f"{arm}: {outcome.kind}"] += 1
