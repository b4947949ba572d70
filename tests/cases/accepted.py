# SPDX-License-Identifier: MIT
"""Which options does an nvJitLink or a libNVVM accept, and which of these are in no table of interpose/?

Strings of the library that look like an option, and the options of the table, are given to it one by one, also with
values. A child process asks, because some options end it: these count as refused, and another child goes on.
"""
import ctypes
import os
import re

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULE = b"target triple = \"nvptx64-nvidia-cuda\"\ndefine void @k() { ret void }\n"


def asks_linker(library, option):
    handle = ctypes.c_void_p()
    code = library.nvJitLinkCreate(ctypes.byref(handle), 2, (ctypes.c_char_p * 2)(b"-arch=sm_90", option.encode()))
    library.nvJitLinkDestroy(ctypes.byref(handle))
    return code != 1


def asks_nvvm(library, option):
    program = ctypes.c_void_p()
    library.nvvmCreateProgram(ctypes.byref(program))
    library.nvvmAddModuleToProgram(program, MODULE, ctypes.c_size_t(len(MODULE)), b"module")
    code = library.nvvmVerifyProgram(program, 1, (ctypes.c_char_p * 1)(option.encode()))
    library.nvvmDestroyProgram(ctypes.byref(program))
    return code != 7


# What asks, where the table is, and how it spells an option.
COMPILERS = {"libnvJitLink": (asks_linker, "nvjitlink/link.c", r'(?:\{|= )"(-[^"]+)"'),
             "libnvvm": (asks_nvvm, "nvvm/compiler.c", r'\{"(-[^"]+)"')}


def probe(ask, library, options):
    """Those that are accepted."""
    said = b""
    while len(said) < len(options):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            for option in options[len(said):]:
                os.write(writing, b"y" if ask(library, option) else b"n")
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said += pipe.read()
        if os.waitpid(child, 0)[1] != 0:
            said += b"n"
    return [option for option, answer in zip(options, said) if answer == ord("y")]


def accepted(path):
    """(options in the table, options in none). An option in no table that only goes on where another one ends, and is
    accepted with anything there, says nothing."""
    ask, source, pattern = next(row for stem, row in COMPILERS.items() if os.path.basename(path).startswith(stem))
    with open(os.path.join(REPOSITORY, "interpose", source), encoding="utf-8") as file:
        table = set(re.findall(pattern, file.read()))
    with open(path, "rb") as file:
        names = {name.decode() for name in re.findall(rb"(?<=\0)--?[A-Za-z][\w+-]{0,39}(?==?\0)", file.read())}
    library = ctypes.CDLL(path)
    words = sorted(names | {option.rstrip("=") for option in table})
    taken = probe(ask, library, [word + tail for word in words for tail in ("", "=1", "=0", "=compute_90", "=sm_90")])
    open_ended = [option[:-1] for option in probe(ask, library, [option + "!" for option in taken if "=" not in option])]
    forms = {re.sub("=.*", "=", option) for option in taken}
    forms = {form for form in forms if form in table or not any(form != each and form.startswith(each) for each in open_ended)}
    return sorted(forms & table), sorted(forms - table)
