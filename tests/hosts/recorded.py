# SPDX-License-Identifier: MIT
"""A host of NVRTC, and forged requests, for tests/integration/97-warm.sh.

    recorded.py compile LIBRARY ARCH NAME... [-- OPTION...]    compiles NAME for ARCH, prints code and PTX
    recorded.py link LIBRARY LINKER ARCH NAME...               compiles to PTX and links it, prints code and CUBIN
    recorded.py forge FILE FIELD=TEXT...                       writes a request; key=TEXT gives its name, cut=1 damages it
"""
import ctypes
import hashlib
import os
import sys

MAGIC = bytes([0x8E]) + b"NVRTC\r\n" + b"request1"
TAGS = {name: number for number, name in enumerate(
    ["", "compiler", "release", "cost", "floating_point", "directory", "bound", "locale", "variable", "value", "result"])}
TAGS.update(source=16, name=17, header_name=18, header_text=19, expression=20, option=21, bytes=22, type=23, call=24)
PTX = 2  # of enum nvJitLinkInputType
NUMBERS = ("cost", "floating_point", "bound", "result", "type", "call")


def compile_with(library, arch, names, options):
    nvrtc = ctypes.CDLL(library)
    words = ["-arch=" + arch, *options]
    array = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
    for name in names:
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        source = f"__global__ void {name}() {{}}\n".encode()
        header = [(ctypes.c_char_p * 1)(text) for text in (b"// in memory", b"memory.h")]
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), 1, *header)
        nvrtc.nvrtcAddNameExpression(program, name.encode())
        code = nvrtc.nvrtcCompileProgram(program, len(words), array)
        nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetPTX(program, text)
        print(name, code, hashlib.sha256(text.raw).hexdigest())


def link(library, linker, arch, names):
    """Each name is a program of its own; all of them are linked, with one input that nobody compiled."""
    nvrtc, jit = ctypes.CDLL(library), ctypes.CDLL(linker)
    handle, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 1)(b"-arch=sm_" + arch.encode())
    jit.nvJitLinkCreate(ctypes.byref(handle), 1, options)
    other = b".version 8.0\n// brought along\n\0"
    jit.nvJitLinkAddData(handle, PTX, other, ctypes.c_size_t(len(other)), b"other")
    for name in names:
        program = ctypes.c_void_p()
        source = f"__global__ void {name}() {{}}\n".encode()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), 0, None, None)
        nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"-arch=compute_" + arch.encode()))
        nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetPTX(program, text)
        # a text may be passed without its NUL
        jit.nvJitLinkAddData(handle, PTX, text, ctypes.c_size_t(size.value - (name == "two")), name.encode())
    code = jit.nvJitLinkComplete(handle)
    jit.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    jit.nvJitLinkGetLinkedCubin(handle, text)
    print(code, size.value, hashlib.sha256(text.raw).hexdigest())


def forge(path, fields):
    body, cut = MAGIC, False
    for field in fields:
        name, _, text = field.partition("=")
        if name == "cut":
            cut = True
            continue
        content = int(text).to_bytes(8, "little") if name in NUMBERS else text.encode() + b"\0" * (name != "bytes")
        body += bytes([TAGS[name]]) + len(content).to_bytes(8, "little") + content
    body += hashlib.blake2b(body, digest_size=32).digest()
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(body[:-1] if cut else body)


if sys.argv[1] == "forge":
    forge(sys.argv[2], sys.argv[3:])
elif sys.argv[1] == "link":
    link(*sys.argv[2:5], sys.argv[5:])
else:
    words = sys.argv[4:]
    end = words.index("--") if "--" in words else len(words)
    compile_with(sys.argv[2], sys.argv[3], words[:end], words[end + 1:])
