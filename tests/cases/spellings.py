#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spellings: asks NVRTC for the first column of tests/unit/option_spellings.h. TAP.

usage: spellings.py LIBRARY      (tests/integration/17-spellings.sh)

Each row is compiled with a header in the directory that "@" stands for. tests/unit/test_options.c holds options_read() to
the second column; where that is the directory, NVRTC must search it.
"""
import ast
import ctypes
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "hosts"))
from compiler import Program  # noqa: E402

TABLE = os.path.join(HERE, "..", "unit", "option_spellings.h")
ROW = re.compile(r'^\t\{(HEADER_FOUND|HEADER_MISSED|REFUSED), (NULL|"(?:\\.|[^"\\])*"), \{(.*)\}\},$', re.MULTILINE)
# What a path of a found header begins with: the directory's text in these forms, as tests/unit/test_request.c has it.
FORMS = ["-I@", "-I@/", "-I @", "-I=@/", "--include-path=@"]


def table():
    """[(outcome, directory or None, strings)]"""
    with open(TABLE, encoding="utf-8") as file:
        return [(outcome, None if directory == "NULL" else ast.literal_eval(directory), ast.literal_eval(f"[{strings}]"))
                for outcome, directory, strings in ROW.findall(file.read())]


def main():
    library, count = ctypes.CDLL(sys.argv[1]), ctypes.c_int()
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    archs = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(archs)
    results = []
    with tempfile.TemporaryDirectory() as place:
        inside = os.path.join(place, "include")
        os.makedirs(os.path.join(place, "here"))
        os.mkdir(inside)
        for name, text in (("found.h", "\n"), ("error.h", "#error here\n")):
            with open(os.path.join(inside, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.chdir(os.path.join(place, "here"))

        def compile_with(source, strings):
            program = Program(library, source)
            options = [f"-arch=compute_{archs[count.value // 2]}"] + [text.replace("@", inside) for text in strings]
            return program.compile(options), program.get("ProgramLog")[3].decode()

        for outcome, directory, strings in table():
            code, _ = compile_with('#include "found.h"\nextern "C" __global__ void k() {}', strings)
            asked = {0: "HEADER_FOUND", 5: "REFUSED"}.get(code, "HEADER_MISSED")
            searched = directory is None or directory.rstrip("/.") != "@" or asked != "HEADER_MISSED"
            results.append((asked == outcome and searched, f"{outcome}: {strings!r}"))
        for form in FORMS:
            _, log = compile_with("#include <error.h>\n", [form])
            results.append((log.startswith(f"{inside}/error.h(1): catastrophic error"),
                            f"a path begins with the directory's text and one slash: {form}"))
        os.chdir("/")
    for number, (good, sentence) in enumerate(results, 1):
        print("ok" if good else "not ok", number, "-", sentence)
    print(f"1..{len(results)}")
    sys.exit(not all(good for good, _ in results))


main()
