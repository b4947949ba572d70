# SPDX-License-Identifier: MIT
"""activate(): starts the running script again, with the library preloaded."""
import ctypes
import os
import re
import sys
import threading
from typing import List, Optional

_COMPILER = re.compile(r"/\S*/(?:libnvrtc|libnvJitLink|libnvvm)\b[^/\n]*\.so[^/\n]*$", re.MULTILINE)


def activate() -> None:
    """Turns the cache on for this script: call it first, before anything that uses CUDA is imported.

    If the library is not preloaded, the interpreter starts again: the same process, arguments, options, environment,
    working directory and standard streams, and ``LD_PRELOAD``. If it is, because of that or because the program was
    started with it, this does nothing.

    Raises RuntimeError, with what to do instead, if the program cannot be started again without a loss: in a notebook
    or another interactive session, if a CUDA compiler is loaded already, if other threads run, and the like.
    """
    if is_preloaded():
        return
    preload = preload_list()
    obstacle = _obstacle()
    if obstacle is not None:
        raise RuntimeError("nvrtccache.activate(): " + obstacle)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os.execve(sys.executable, [sys.executable, *_arguments()[1:]], {**os.environ, "LD_PRELOAD": preload})


def is_preloaded() -> bool:
    """Symbols of a library that is opened later, by ctypes.CDLL(), are not in this scope."""
    return hasattr(ctypes.CDLL(None), "nvrtccache_library_version")


def preload_list() -> str:
    """The value of LD_PRELOAD: the library, then what is there already. Raises RuntimeError if that would not work."""
    from nvrtccache import library_path

    library = os.environ.get("NVRTCCACHE_LIBRARY") or library_path()
    others = os.environ.get("LD_PRELOAD", "")
    if re.search("[ :]", library):
        raise RuntimeError(f"'{library}' cannot be preloaded: its path has a blank or a colon; "
                           "NVRTCCACHE_LIBRARY can name a copy whose path has none")
    # only glibc's loader expands $LIB: programs of another C library, which the preload would end, ignore it
    spelled = f"/usr/$LIB/../../../..{library}"
    if {library, spelled} & set(re.split("[ :]", others)):
        if is_preloaded():
            return others
        raise RuntimeError(f"LD_PRELOAD names '{library}', but this process was started without it")
    try:
        ctypes.CDLL(library)  # a library that the loader refuses would end the new process
    except OSError as error:
        raise RuntimeError(f"the library cannot be loaded: {error}") from None
    try:
        ctypes.CDLL(spelled)
    except OSError:
        spelled = library  # there is no such directory
    return f"{spelled}:{others}" if others else spelled


def _arguments() -> List[str]:
    try:
        return sys.orig_argv
    except AttributeError:  # Python 3.9 and older
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(argument) for argument in file.read().split(b"\0")[:-1]]


def _is_python() -> bool:
    """False in programs that embed Python: their sys.executable is none, or is not what runs."""
    try:
        return not getattr(sys, "frozen", False) and os.path.samefile(sys.executable, "/proc/self/exe")
    except (OSError, TypeError):
        return False


def _has_moved(script: str) -> bool:
    """Would the script, named as it was, no longer be found from the working directory of now?"""
    named = [argument for argument in _arguments()[1:] if os.path.basename(argument) == os.path.basename(script)]
    return bool(named) and not any(os.path.exists(name) and os.path.samefile(name, script) for name in named)


def _obstacle() -> Optional[str]:
    """Why the program cannot be started again, and what to do."""
    run = "start the program by 'nvrtccache run -- program' instead"
    script = getattr(sys.modules["__main__"], "__file__", None)
    processes = sys.modules.get("multiprocessing.process")
    with open("/proc/self/maps", errors="replace") as maps:
        compiler = _COMPILER.search(maps.read())
    if "ipykernel" in sys.modules:
        return ("a notebook's kernel cannot be restarted from within: run 'python -m nvrtccache install-kernel "
                "--sys-prefix' once and choose the kernel 'Python 3 (nvrtccache)'")
    if hasattr(sys, "ps1"):
        return "an interactive session cannot be restarted: start it by 'python -m nvrtccache run -- python'"
    if "_pytest" in sys.modules and "PYTEST_VERSION" in os.environ:
        return "pytest has redirected its output: start it by 'python -m nvrtccache run -m pytest'"
    if not _is_python():
        return "Python is part of another program here: " + run
    if script == "<stdin>":
        return "the script comes from standard input, which cannot be read again: " + run
    if compiler is not None:
        return f"'{compiler.group()}' is loaded already: call it before the imports that load it"
    if processes is not None and processes.parent_process() is not None:
        return "this is a worker process: call it in the main program, before the workers start"
    if threading.active_count() > 1:
        return "other threads are running: call it before they start"
    if script is not None and _has_moved(script):
        return f"the working directory has changed, and '{script}' is not found from here: call it before"
    return None
