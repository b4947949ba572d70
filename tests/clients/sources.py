# SPDX-License-Identifier: MIT
"""For drivers of clients that come as sources: where things are, building, and running what was built.

scripts/clients calls such a driver with --build first, without the cache, and then as any other. Variables: CLIENT_SOURCE
(the sources, only read), CLIENT_WORK (what is built stays there), CUDA_HOME, CUDA_INCLUDE, NVRTC_LIB, CUDA_STUB.
"""
import concurrent.futures
import hashlib
import os
import subprocess
import sys

SOURCE, WORK = os.environ["CLIENT_SOURCE"], os.environ["CLIENT_WORK"]
CUDA_HOME, CUDA_INCLUDE = os.environ["CUDA_HOME"], os.environ["CUDA_INCLUDE"]
HERE = os.path.dirname(os.path.abspath(__file__))
BUILDING = sys.argv[1:] == ["--build"]


def digest(*paths):
    whole = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            whole.update(file.read())
    return whole.hexdigest()


def build(target, inputs, command, **extra):
    """Runs the command unless `target` was made by the same one from the same inputs; ends the program where it fails."""
    stamp = target + ".from"
    wanted = digest(*inputs) + " " + " ".join(command)
    if os.path.exists(target) and os.path.exists(stamp):
        with open(stamp) as file:
            if file.read() == wanted:
                return
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **extra)
    except OSError as error:
        sys.exit(str(error))
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["no message"]
        sys.exit(f"{os.path.basename(command[0])}: {lines[0]}")
    with open(stamp, "w") as file:
        file.write(wanted)


def run(command, **extra):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="backslashreplace",
                          timeout=600, **extra)


def side_by_side(function, items):
    """As many at a time as there are processors; results in order."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(function, items))
