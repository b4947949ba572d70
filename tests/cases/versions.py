#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is what interpose/nvrtc/versions.h and functions.h beside it say of releases so of this library? (TAP)

usage: versions.py LIBRARY

Each question is asked in a process of its own: answers hang on what a process has compiled, and some crash.
"""
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NVRTC = os.path.join(HERE, "..", "..", "interpose", "nvrtc")
KERNEL = """__device__ __noinline__ int half(int a) { return a / 2; }
extern "C" __global__ void k(int *p, const int *q) { for (int i = 0; i < 4; i++) p[i] = half(q[i]); }
"""


class Nvrtc:
    def __init__(self, path):
        self.handle = ctypes.CDLL(path)

    def release(self):
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.handle.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        return major.value * 100 + minor.value

    def create(self, source=KERNEL):
        program = ctypes.c_void_p()
        self.handle.nvrtcCreateProgram(ctypes.byref(program), source.encode(), None, 0, None, None)
        return program

    def compile(self, *options, source=KERNEL):
        """(return code, PTX, log)"""
        program = self.create(source)
        array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        code = self.handle.nvrtcCompileProgram(program, len(options), array)
        return (code, *(self.text(program, what) for what in ("PTX", "ProgramLog")))

    def text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.handle, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        getattr(self.handle, f"nvrtcGet{what}")(program, text)
        return text.value.decode(errors="replace")


def null_expression_crashes(nvrtc):
    nvrtc.handle.nvrtcAddNameExpression(nvrtc.create(), None)
    return False


def numbers_calls(nvrtc):
    def numbers():
        return re.findall(r"// callseq (\d+)", nvrtc.compile("-arch=sm_80")[1])
    first = numbers()
    if not first:
        raise ValueError("no calls in the PTX")
    return numbers() != first


def sets_locale(nvrtc):
    return "setlocale" in imports(nvrtc.handle._name)


def asks_locale(nvrtc):
    libc = ctypes.CDLL(None)
    libc.setlocale.restype = ctypes.c_char_p
    source = "__global__ void k(int *p) { int gr\xf6\xdfe = p[1]; *p = gr\xf6\xdfe; }"
    for name in ("de_DE.iso88591", "en_US.iso88591", "fr_FR.iso88591", "de_DE", "en_US"):
        if libc.setlocale(0, name.encode()) and libc.isalpha(0xf6):
            break
    else:
        raise NotImplementedError("no locale of single bytes here")
    program = ctypes.c_void_p()
    nvrtc.handle.nvrtcCreateProgram(ctypes.byref(program), source.encode("latin-1"), None, 0, None, None)
    return nvrtc.handle.nvrtcCompileProgram(program, 0, None) == 0


def sticky(nvrtc):
    before = nvrtc.compile("-arch=sm_80")[1:]
    nvrtc.compile("-arch=sm_80", "-restrict")
    restrict = nvrtc.compile("-arch=sm_80")[1:]
    nvrtc.compile("-arch=sm_80", "-opt-info=inline")
    both = nvrtc.compile("-arch=sm_80")[1:]
    comments = re.compile(r"// callseq \d+")
    before, restrict, both = (tuple(comments.sub("", text) for text in each) for each in (before, restrict, both))
    if (restrict != before) != (both[1] != restrict[1]):
        raise ValueError("one lingers, the other does not")
    return restrict != before


def split_sticky(nvrtc):
    inlined = KERNEL + "__device__ __noinline__ float f(float x) { return x / 3.0f; }\n" \
        'extern "C" __global__ void g(float *p) { p[0] = f(p[1]) + f(p[2]) * 2; }\n'
    texts = []
    for option in ("-DNONE", "-split-compile=2", "-DNONE"):
        texts.append(re.sub(r"// callseq \d+", "", nvrtc.compile("-arch=sm_80", option, source=inlined)[1]))
    return texts[2] != texts[0]


def makes_pch(nvrtc):
    return nvrtc.compile("-arch=sm_80", "--pch")[0] == 0


def pch_in_cwd(nvrtc):
    with open("a.h", "w") as file:
        file.write("struct a { int x; };\n")
    nvrtc.compile("-arch=sm_80", "--pch", source='#include "a.h"\n' + KERNEL)
    return any(name.endswith(".pch") for name in os.listdir("."))


def own_cache(nvrtc):
    return nvrtc.compile("-arch=sm_80", "--no-cache")[0] == 0


def optix_spells_paths(nvrtc):
    """Asked of LTO-IR too, which every release since 12.0 puts the directory into."""
    def made(option, what):
        program, size = nvrtc.create(), ctypes.c_size_t()
        nvrtc.handle.nvrtcCompileProgram(program, 2, (ctypes.c_char_p * 2)(b"-arch=sm_80", option))
        getattr(nvrtc.handle, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        held = ctypes.create_string_buffer(size.value)
        getattr(nvrtc.handle, f"nvrtcGet{what}")(program, held)
        return held.raw

    if not hasattr(nvrtc.handle, "nvrtcGetOptiXIR"):
        return False
    here = [made(b"-dlto", "LTOIR"), made(b"-optix-ir", "OptiXIR")]
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    there = [made(b"-dlto", "LTOIR"), made(b"-optix-ir", "OptiXIR")]
    assert here[0] != there[0], "LTO-IR does not name the working directory"
    return here[1] != there[1]


def spells_cwd(nvrtc):
    # a child under strace
    with open("a.h", "w") as file:
        file.write("struct a { int x; };\n")
    done = subprocess.run(["strace", "-qq", "-f", "-e", "trace=open,openat", "-o", "trace", sys.executable, __file__,
                           nvrtc.handle._name, "opens"], check=False, capture_output=True)
    if done.returncode != 0 or not os.path.exists("trace"):
        raise NotImplementedError("strace cannot trace here")
    with open("trace", errors="replace") as file:
        opened = re.findall(r'"([^"]*a\.h)"', file.read())
    return os.path.join(os.getcwd(), "a.h") in opened


def decodes_in_order(nvrtc):
    """Is a callback given each header, the source, then at the compile each option, once each and in this order?"""
    texts, asked = {b"\1header": b"#define FROM 1\n", b"\2source": b'#include "m.h"\n' + KERNEL.encode(),
                    b"\3option": b"-arch=sm_80", b"\4option": b"-DA=1"}, []
    kept = []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    def decode(text, _payload):
        asked.append(ctypes.string_at(text))
        kept.append(ctypes.create_string_buffer(texts[asked[-1]]))
        return ctypes.addressof(kept[-1])

    header, source, *options = texts
    program = ctypes.c_void_p()
    values = (ctypes.c_void_p * 2)(ctypes.cast(decode, ctypes.c_void_p), None)
    if nvrtc.handle.__nvrtcCPEx(ctypes.byref(program), source, b"t.cu", 1, (ctypes.c_char_p * 1)(header),
                                (ctypes.c_char_p * 1)(b"m.h"), 2, (ctypes.c_int * 2)(1, 2), values) != 0:
        return False
    created = list(asked)
    result = nvrtc.handle.nvrtcCompileProgram(program, 2, (ctypes.c_char_p * 2)(*options))
    return result == 0 and created == [header, source] and asked[2:] == options


def opens(nvrtc):
    nvrtc.compile("-arch=sm_80", source='#include "a.h"\n' + KERNEL)
    return True


def imports(path):
    listed = subprocess.run(["readelf", "--dyn-syms", "-W", path], check=True, capture_output=True, text=True).stdout
    return {line.split()[7].split("@")[0] for line in listed.splitlines() if " UND " in line and len(line.split()) > 7}


def exports(path):
    listed = subprocess.run(["readelf", "--dyn-syms", "-W", path], check=True, capture_output=True, text=True).stdout
    return {line.split()[7].split("@")[0] for line in listed.splitlines()
            if " FUNC " in line and " UND " not in line and len(line.split()) > 7}


def tables():
    with open(os.path.join(NVRTC, "versions.h")) as file:
        differences = re.findall(r'\bX\((\w+), (\d+), (\d+), "(.*?)"\)', file.read())
    with open(os.path.join(NVRTC, "functions.h")) as file:
        text = file.read()
    handled = re.findall(r"X\((\w+), (\d+), (\d+),", text.split("define NVRTC_HANDLED")[1].split("define NVRTC_PLAIN")[0])
    for name, *since in re.findall(r"X\((\w+), (\d+), (\d+),", text.split("define NVRTC_PRODUCTS")[1].split("NVRTC_GETTERS")[0]):
        handled += [(f"nvrtcGet{name}{end}", *since) for end in ("Size", "")]
    plain = re.findall(r"\bX\((\w+)\)", text.split("define NVRTC_PLAIN")[1].split("define NVRTC_PRODUCTS")[0])
    return differences, handled, plain


def ask(path, question):
    """True, False, or why it cannot be known."""
    work = tempfile.mkdtemp(prefix="nvrtccache-versions-")
    try:
        done = subprocess.run([sys.executable, os.path.abspath(__file__), path, question], cwd=work, check=False,
                              capture_output=True, text=True,
                              env=dict(os.environ, TMPDIR=work, HOME=work, CUDA_CACHE_DISABLE="1"))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if done.returncode < 0:
        return True
    return {"True": True, "False": False}.get(done.stdout.strip(), (done.stdout + done.stderr).strip()[-200:])


def main():
    path = os.path.abspath(sys.argv[1])
    if len(sys.argv) > 2:
        try:
            print(globals()[sys.argv[2]](Nvrtc(path)))
        except NotImplementedError as error:
            print("cannot ask:", error)
        return 0
    release = Nvrtc(path).release()
    differences, handled, plain = tables()
    count = bad = 0

    def report(good, sentence, why=""):
        nonlocal count, bad
        count += 1
        bad += not good
        print(f"{'ok' if good else 'not ok'} {count} - {sentence}")
        if not good:
            print(f"# {why}")

    for name, since, before, sentence in differences:
        expected, found = int(since) <= release < int(before), ask(path, name.lower())
        if isinstance(found, str) and found.startswith("cannot ask"):
            count += 1
            print(f"ok {count} - {name} # SKIP {found}")
        else:
            report(found == expected, f"{name} is as the table says: {sentence}.", f"expected {expected}: {found}")
    real = {name for name in exports(path) if name.startswith(("nvrtc", "__nvrtcCPEx"))}
    known = {name for name, since, gone in handled if int(since) <= release < int(gone)}
    report(known <= real, "The functions that this release has according to the table are there.", known - real)
    late = {name for name, _, _ in handled} - known
    report(not late & real, "The functions that it has not are not there.", late & real)
    strange = real - known - set(plain)
    report(not strange, "There is no function that no table knows.", strange)
    print(f"1..{count}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
