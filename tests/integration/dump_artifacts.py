#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dump_artifacts: one compile or link, and every artifact that its getters give, as files

usage: dump_artifacts.py nvrtc LIBRARY OUT NAME SOURCE [-e EXPRESSION]... [OPTION]...
       dump_artifacts.py nvjitlink LIBRARY OUT TYPE INPUT [OPTION]...
       dump_artifacts.py nvvm LIBRARY OUT NAME INPUT [OPTION]...

OUT/<getter>, the bytes that it wrote, of as many as the size getter told; lowered names in OUT/names. Knows nothing of a
cache. Prints the return code of the work.
"""
import ctypes
import os
import sys

kind, library, out, name, path = sys.argv[1:6]
rest = sys.argv[6:]
lib = ctypes.CDLL(library)
os.makedirs(out, exist_ok=True)
handle = ctypes.c_void_p()


def text_array(texts):
    return (ctypes.c_char_p * max(len(texts), 1))(*[os.fsencode(text) for text in texts])


def dump(prefix, getters, *leading):
    for getter in getters:
        size = ctypes.c_size_t()
        try:
            tell, give = getattr(lib, f"{prefix}{getter}Size"), getattr(lib, prefix + getter)
        except AttributeError:
            continue
        if tell(*leading, ctypes.byref(size)) != 0 or size.value == 0:
            continue
        # a getter may write less than it told: what is left of the filling is no part of it
        one, other = (ctypes.create_string_buffer(fill * size.value, size.value) for fill in (b"\x55", b"\xaa"))
        if give(*leading, one) != 0 or give(*leading, other) != 0:
            continue
        end = size.value
        while end and one.raw[end - 1] != other.raw[end - 1]:
            end -= 1
        with open(os.path.join(out, getter), "wb") as file:
            file.write(one.raw[:end])


with open(path, "rb") as file:
    content = file.read()
if kind == "nvrtc":
    expressions, options = [], []
    while rest:
        word = rest.pop(0)
        (expressions if word == "-e" else options).append(rest.pop(0) if word == "-e" else word)
    assert lib.nvrtcCreateProgram(ctypes.byref(handle), content, os.fsencode(name), 0, None, None) == 0
    for expression in expressions:
        assert lib.nvrtcAddNameExpression(handle, os.fsencode(expression)) == 0
    print(lib.nvrtcCompileProgram(handle, len(options), text_array(options)))
    dump("nvrtcGet", ["PTX", "CUBIN", "NVVM", "LTOIR", "OptiXIR", "TileIR", "ProgramLog"], handle)
    with open(os.path.join(out, "names"), "w", encoding="utf-8", errors="surrogateescape") as file:
        for expression in expressions:
            lowered = ctypes.c_char_p()
            if lib.nvrtcGetLoweredName(handle, os.fsencode(expression), ctypes.byref(lowered)) == 0:
                file.write(f"{os.fsdecode(lowered.value)}\t{expression}\n")
    lib.nvrtcDestroyProgram(ctypes.byref(handle))
elif kind == "nvjitlink":
    assert lib.nvJitLinkCreate(ctypes.byref(handle), len(rest), text_array(rest)) == 0
    added = lib.nvJitLinkAddData(handle, int(name), content, ctypes.c_size_t(len(content)), os.fsencode(os.path.basename(path)))
    print(added or lib.nvJitLinkComplete(handle))
    dump("nvJitLinkGet", ["LinkedCubin", "LinkedPtx", "ErrorLog", "InfoLog", "LinkedLTOIR"], handle)
    lib.nvJitLinkDestroy(ctypes.byref(handle))
else:
    assert lib.nvvmCreateProgram(ctypes.byref(handle)) == 0
    assert lib.nvvmAddModuleToProgram(handle, content, ctypes.c_size_t(len(content)), os.fsencode(name)) == 0
    print(lib.nvvmCompileProgram(handle, len(rest), text_array(rest)))
    dump("nvvmGet", ["CompiledResult", "ProgramLog"], handle)
    lib.nvvmDestroyProgram(ctypes.byref(handle))
