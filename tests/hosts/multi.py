#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""multiprocessing and NVRTC through ctypes: multi.py LIBRARY METHOD ORDER

METHOD is fork, spawn or forkserver. ORDER is "before" (the parent compiles before it makes children) or "after". Two
children after one another and then four at once, each of which compiles one thing, some of them the same. Prints what
each was given; then, with ORDER "pool", a pool of two compiles eight things.
"""
import ctypes
import hashlib
import multiprocessing
import sys

SOURCE = """template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by + (T)%d; }
extern "C" __global__ void fill(float *x) { x[threadIdx.x] = %d; }
"""


def compiled(path, number):
    library = ctypes.CDLL(path)
    program, lowered, size = ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 1)(b"-arch=sm_80")
    text = (SOURCE % (number, number)).encode()
    digest = hashlib.sha256()
    codes = [library.nvrtcCreateProgram(ctypes.byref(program), text, b"multi.cu", 0, None, None)]
    codes.append(library.nvrtcAddNameExpression(program, b"scale<float>"))
    codes.append(library.nvrtcCompileProgram(program, 1, options))
    for name in ("nvrtcGetPTX", "nvrtcGetCUBIN", "nvrtcGetProgramLog"):
        codes.append(getattr(library, name + "Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value + 1)
        codes.append(getattr(library, name)(program, buffer))
        digest.update(buffer.raw)
    codes.append(library.nvrtcGetLoweredName(program, b"scale<float>", ctypes.byref(lowered)))
    digest.update(lowered.value or b"none")
    codes.append(library.nvrtcDestroyProgram(ctypes.byref(program)))
    return f"{number} {codes} {digest.hexdigest()}"


def child(path, number, answers):
    answers.put(compiled(path, number))


def run(context, path, numbers):
    answers = context.SimpleQueue()
    children = [context.Process(target=child, args=(path, number, answers)) for number in numbers]
    for process in children:
        process.start()
    for line in sorted(answers.get() for _ in children):
        print("child", line)
    for process in children:
        process.join()
        print("exit", process.exitcode)


def work(arguments):
    return compiled(*arguments)


def main():
    path, method, order = sys.argv[1:]
    context = multiprocessing.get_context(method)
    if order == "pool":
        print("parent", compiled(path, 1))
        with context.Pool(2) as pool:
            for line in pool.map(work, [(path, 1 + number % 4) for number in range(8)]):
                print("worker", line)
            pool.close()
            pool.join()
        return
    if order == "before":
        print("parent", compiled(path, 1))
    run(context, path, [1])
    run(context, path, [2])
    run(context, path, [1, 2, 3, 3])
    if order == "after":
        print("parent", compiled(path, 1))
    print("parent", compiled(path, 3))


if __name__ == "__main__":
    main()
