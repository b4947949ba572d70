# SPDX-License-Identifier: MIT
"""compiler: NVRTC by ctypes, for host programs of the tests that need nothing which Python hides. Texts may be bytes."""
import ctypes
from os import fsencode


def array_of(texts):
    texts = [fsencode(text) for text in texts]
    return (ctypes.c_char_p * len(texts))(*texts)


class Program:
    """One nvrtcProgram; creating it must succeed."""

    def __init__(self, library, source, name=None, expressions=(), headers=()):
        self.library, self.handle = library, ctypes.c_void_p()
        code = library.nvrtcCreateProgram(ctypes.byref(self.handle), fsencode(source), None if name is None else fsencode(name),
                                          len(headers), array_of(text for _, text in headers), array_of(name for name, _ in headers))
        for expression in expressions:
            code = code or library.nvrtcAddNameExpression(self.handle, fsencode(expression))
        if code != 0:
            raise SystemExit(f"no program: {code}")

    def compile(self, options):
        return self.library.nvrtcCompileProgram(self.handle, len(options), array_of(options))

    def get(self, product):
        """(code of the size, size, code of the bytes or -1, bytes); None where the release has no such product"""
        size, get_size = ctypes.c_size_t(), getattr(self.library, f"nvrtcGet{product}Size", None)
        if get_size is None:
            return None
        code = get_size(self.handle, ctypes.byref(size))
        content = ctypes.create_string_buffer(size.value + 1)
        return code, size.value, getattr(self.library, f"nvrtcGet{product}")(self.handle, content) if code == 0 else -1, \
            content.raw[:size.value]

    def lowered(self, expression):
        name = ctypes.c_char_p()
        code = self.library.nvrtcGetLoweredName(self.handle, fsencode(expression), ctypes.byref(name))
        return code, (name.value or b"").decode()

    def destroy(self):
        return self.library.nvrtcDestroyProgram(ctypes.byref(self.handle))
