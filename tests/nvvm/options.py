#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which options of libNVVM work on in later calls of the process?

usage: options.py LIBNVVM [LIBDEVICE]     (TAP on standard output)

Each option is given, in a process of its own, to a verification and a compile of every module, and then all modules are
compiled without it. Whatever differs from what they give alone is named. Those that interpose/nvvm/compiler.c has for
clear must change nothing; for the others it says how many of the modules they change, which hangs on the release.
"""
import ctypes
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILER_C = os.path.join(HERE, "..", "..", "interpose", "nvvm", "compiler.c")
HEAD = """target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
"""
TAIL = """!nvvm.annotations = !{!0}
!0 = !{void (%s)* @kernel, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
"""
# Loads that may be cached, a loop that may be unrolled, a division, a product and a sum; a switch that may be a table;
# calls that may be inlined; functions of libdevice.
MODULES = {
    "loop": ("float*, float*, i32", """define void @kernel(float* %x, float* %y, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %w = sext i32 %i to i64
  %px = getelementptr float, float* %x, i64 %w
  %py = getelementptr float, float* %y, i64 %w
  %vx = load float, float* %px
  %q = fdiv float %vx, 0x4008000000000000
  %m = fmul float %q, %vx
  %vy = load float, float* %py
  %s = fadd float %m, %vy
  store float %s, float* %py
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""),
    "switch": ("i32*, i32", """define i32 @choose(i32 %a) {
  switch i32 %a, label %other [ i32 0, label %zero i32 1, label %one i32 2, label %two i32 3, label %three i32 4, label %four ]
zero:
  ret i32 17
one:
  ret i32 4
two:
  ret i32 99
three:
  ret i32 -3
four:
  ret i32 1000
other:
  ret i32 %a
}
define void @kernel(i32* %p, i32 %a) {
  %v = call i32 @choose(i32 %a)
  store i32 %v, i32* %p
  ret void
}
"""),
    "roots": ("float*, double*", """declare float @llvm.sqrt.f32(float)
define void @kernel(float* %x, double* %y) {
  %v = load float, float* %x
  %s = call float @llvm.sqrt.f32(float %v)
  store float %s, float* %x
  %d = load double, double* %y
  %e = fdiv double %d, 0x4008000000000000
  store double %e, double* %y
  ret void
}
"""),
}
LIBRARY = ("float*", """declare float @__nv_sinf(float)
define void @kernel(float* %x) {
  %v = load float, float* %x
  %s = call float @__nv_sinf(float %v)
  store float %s, float* %x
  ret void
}
""")
VALUES = {
    "-arch=": ["compute_75", "compute_80", "compute_90", "compute_90a", "compute_100", "compute_120"],
    "-opt=": ["0", "1", "2", "3"],
    "-maxreg=": ["16", "64"],
    "-jump-table-density=": ["0", "10", "101"],
    "-host-ref-ek=": ["kernel"],
    "-nvvm-version=": ["nvvm70", "nvvm-latest"],
    "-Ofast-compile=": ["0", "min", "mid", "max"],
    "-split-compile=": ["4"],
}
# LLVM's own, of which one is known to do something here; the others are what an option is that nobody knows.
WITH_ANOTHER = {"-Xllc": ["-nvptx-sched4reg"], "-Xopt": ["-no-such-option"]}


def lists():
    """"clear" and "sticky": the options in the table of compiler.c that have no bits, and the others"""
    with open(COMPILER_C, encoding="utf-8") as file:
        rows = re.findall(r'\{"(-[^"]+)", ([^}]+)\},', file.read())
    return {"clear": [name for name, bits in rows if bits == "0"], "sticky": [name for name, bits in rows if bits != "0"]}


def spellings(option):
    if option in WITH_ANOTHER:
        return [[option, value] for value in WITH_ANOTHER[option]]
    return [[option + value] for value in VALUES.get(option, ["0", "1"])] if option.endswith("=") else [[option]]


class Library:
    def __init__(self, path, libdevice):
        self.library = ctypes.CDLL(path)
        self.modules = {name: [(HEAD + text + TAIL % kind).encode()] for name, (kind, text) in MODULES.items()}
        if libdevice:
            with open(libdevice, "rb") as file:
                self.modules["library"] = [(HEAD + LIBRARY[1] + TAIL % LIBRARY[0]).encode(), file.read()]

    def call(self, function, program, *arguments):
        return getattr(self.library, "nvvm" + function)(program, *arguments)

    def text(self, program, product):
        size = ctypes.c_size_t()
        self.call(f"Get{product}Size", program, ctypes.byref(size))
        bytes_ = ctypes.create_string_buffer(size.value)
        self.call(f"Get{product}", program, bytes_)
        return re.sub(rb"// callseq \d+", b"// callseq", bytes_.raw)

    def work(self, name, options):
        """(code of Verify, code of Compile, result, log)"""
        program = ctypes.c_void_p()
        self.library.nvvmCreateProgram(ctypes.byref(program))
        listed = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        for number, module in enumerate(self.modules[name]):
            add = "LazyAddModuleToProgram" if number else "AddModuleToProgram"
            self.call(add, program, module, ctypes.c_size_t(len(module)), b"module")
        codes = [self.call(function, program, len(options), listed) for function in ("VerifyProgram", "CompileProgram")]
        made = (*codes, self.text(program, "CompiledResult"), self.text(program, "ProgramLog"))
        self.library.nvvmDestroyProgram(ctypes.byref(program))
        return made

    def plain(self):
        return {(name, *options): self.work(name, options) for name in self.modules
                for options in (["-arch=compute_80"], ["-arch=compute_90", "-gen-lto"], ["-g", "-opt=0"])}

    def after(self, options):
        """(was it accepted, what plain() is afterwards); None: the process did not live"""
        accepted = [self.work(name, options)[1] != 7 for name in self.modules]
        return any(accepted), self.plain()


def in_child(function):
    """What a process of its own gives; None where it did not live."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(repr(function()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    return eval(said.decode()) if os.waitpid(child, 0)[1] == 0 else None


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n\n")[1])
    library = Library(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)
    alone, number, failed = in_child(library.plain), 0, 0
    for name, options in lists().items():
        for spelling in [words for option in options for words in spellings(option)]:
            said = in_child(lambda words=spelling: library.after(words))
            if name != "clear":
                if said and said[0]:
                    print(f"# {' '.join(spelling)} changes {sum(said[1][key] != alone[key] for key in alone)} of {len(alone)}")
                continue
            number += 1
            changed = ["the process did not live"] if said is None else [key for key in alone if said[1][key] != alone[key]]
            failed += bool(changed)
            refused = "" if said and said[0] else " # SKIP this release refuses it"
            print(f"{'not ok' if changed else 'ok'} {number} - {' '.join(spelling)} changes nothing that comes later.{refused}")
            for key in changed:
                print(f"#   {key}")
    print(f"1..{number}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
