# SPDX-License-Identifier: MIT
"""A host of NVRTC, and forged requests, for tests/integration/97-warm.sh.

    recorded.py compile LIBRARY ARCH NAME... [-- OPTION...]    compiles NAME for ARCH, prints code and PTX
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
else:
    words = sys.argv[4:]
    end = words.index("--") if "--" in words else len(words)
    compile_with(sys.argv[2], sys.argv[3], words[:end], words[end + 1:])
