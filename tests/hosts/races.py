#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""races: a host whose surroundings change while it compiles, and which then compiles the same again at rest

usage: races.py LIBRARY PLACE world               makes two directories, headers and links in PLACE
       races.py LIBRARY PLACE race SEED COUNT     COUNT random compiles, while the surroundings change now and then
       races.py LIBRARY PLACE rest SEED COUNT     the same ones from the same places, at rest; a line for each

Between the begin and the end of a compile the directory, the environment and what lies at a path change, and most often
change back, so that a comparison before and after sees nothing: by another thread, or from inside (NVRTC calls a flow
callback some 60 times in a compile), where a seed does the same again. The lines of `rest` must be the same with and
without a cache that `race` has filled.
"""
import ctypes
import hashlib
import os
import random
import sys
import threading
import time

from compiler import Program

PRODUCTS = ["PTX", "CUBIN", "LTOIR", "OptiXIR", "ProgramLog"]
KNOWN = "NVVM_IR_VER_CHK"
FLOW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
RENAME_EXCHANGE, AT_FDCWD = 2, -100


def make_world():
    """A and B hold headers of the same names; inc and other are exchanged now and then. z.h is in every second one."""
    for i, directory in enumerate(["A", "B", "A/sub", "B/sub", "inc", "other"]):
        os.mkdir(directory)
        for j, name in enumerate("xyz"[:2 + i % 2]):
            with open(f"{directory}/{name}.h", "w", encoding="utf-8") as file:
                file.write(f"#define VALUE{name} {100 + 3 * i + j}\n")
    os.symlink("A", "link")
    os.symlink("B", "turned")


class Surroundings:
    """Directory, $PWD, a variable that NVRTC asks for, and which of two directories lies at inc: a choice of each."""
    CHOICES = {"directory": ["A", "B"], "pwd": ["A", "B", "link", None], "variable": [None, "0", "1"], "exchanged": [False, True]}

    def __init__(self, top):
        self.top, self.exchanged, self.libc = top, False, ctypes.CDLL(None, use_errno=True)

    def set(self, what, choice):
        value = self.CHOICES[what][choice]
        if what == "directory":
            os.chdir(f"{self.top}/{value}")
        elif what == "exchanged":
            if value != self.exchanged:
                paths = [f"{self.top}/{name}".encode() for name in ("inc", "other")]
                if self.libc.renameat2(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) != 0:
                    raise OSError(ctypes.get_errno(), "renameat2")
                self.exchanged = value
        else:
            name, text = ("PWD", value and f"{self.top}/{value}") if what == "pwd" else (KNOWN, value)
            if text is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = text

    def set_all(self, choices):
        for what, choice in choices.items():
            self.set(what, choice)

    def change_one(self, choices, number):
        what = list(self.CHOICES)[number % 4]
        self.set(what, (choices[what] + 1) % len(self.CHOICES[what]))


def some_choices(numbers):
    return {"directory": numbers.randrange(2), "pwd": numbers.randrange(4), "variable": numbers.randrange(3),
            "exchanged": int(numbers.randrange(4) == 0)}


def some_request(numbers, top):
    """(source, name, options)"""
    include = numbers.choice(['"x.h"', '"sub/x.h"', '"z.h"', "<y.h>", "<z.h>", '"x.h"'])
    defaults = "".join(f"#ifndef VALUE{name}\n#define VALUE{name} 1\n#endif\n" for name in "xyz")
    source = f'#include {include}\n{defaults}extern "C" __global__ void k(int *p) ' \
             "{ p[0] = VALUEx + VALUEy * 1000 + VALUEz * 1000000; }\n"
    options = [numbers.choice(["-arch=compute_86", "-arch=sm_86", "-arch=sm_86"]), numbers.choice([f"-I{top}/inc", "-I../inc"]),
               numbers.choice(["-lineinfo", "-dlto", "-G", "-DN=1", "-dlto", "-lineinfo", "-DN=2", "-DN=3"])]
    return source, numbers.choice([None, "p.cu", "sub/p.cu"]), options + ["-I."] * (numbers.randrange(4) == 0)


def compile_one(library, request, callback=None):
    source, name, options = request
    program = Program(library, source, name)
    if callback:
        library.nvrtcSetFlowCallback(program.handle, callback, None)
    code, digest = program.compile(options), hashlib.sha256()
    for product in PRODUCTS:
        digest.update(repr(program.get(product)).encode())
    program.destroy()
    return f"{code} {digest.hexdigest()[:16]}"


def meddle_by_thread(library, request, surroundings, choices, numbers):
    stop = threading.Event()

    def meddle():
        while not stop.is_set():
            time.sleep(numbers.randrange(3000000 if numbers.randrange(2) else 200000) / 1e9)
            surroundings.change_one(choices, numbers.randrange(4))
            time.sleep(numbers.randrange(3000000 if numbers.randrange(2) else 200000) / 1e9)
            surroundings.set_all(choices)

    thread = threading.Thread(target=meddle)
    thread.start()
    compile_one(library, request)
    stop.set()
    thread.join()


def meddle_by_callback(library, request, surroundings, choices, numbers):
    which, leave, back, calls = numbers.randrange(4), numbers.randrange(20), 1 + numbers.randrange(40), [0]

    def meddle(_payload, _reserved):
        if calls[0] == leave:
            surroundings.change_one(choices, which)
        elif calls[0] == leave + back:
            surroundings.set_all(choices)
        calls[0] += 1
        return 0

    compile_one(library, request, FLOW(meddle))
    surroundings.set_all(choices)


def main():
    if len(sys.argv) not in (4, 6):
        sys.exit("usage: races.py LIBRARY PLACE world|race|rest [SEED COUNT]")
    top, what = os.path.realpath(sys.argv[2]), sys.argv[3]
    os.chdir(top)
    if what == "world":
        make_world()
        return
    library, surroundings = ctypes.CDLL(sys.argv[1]), Surroundings(top)
    seed, count = int(sys.argv[4]), int(sys.argv[5])
    os.environ[KNOWN] = "0"  # from here on it is changed, and not added
    for i in range(count):
        numbers = random.Random(f"{seed} {i}")
        request, choices = some_request(numbers, top), some_choices(numbers)
        surroundings.set_all(choices)
        if what == "rest":
            print(f"{i}: {choices} {request[0].splitlines()[0]} {request[1]}", *(option.replace(top, "") for option in request[2]),
                  compile_one(library, request))
        elif hasattr(library, "nvrtcSetFlowCallback") and numbers.randrange(2):  # 12.8 and later
            meddle_by_callback(library, request, surroundings, choices, numbers)
        else:
            meddle_by_thread(library, request, surroundings, choices, numbers)
    surroundings.set("exchanged", 0)


main()
