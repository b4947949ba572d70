# SPDX-License-Identifier: MIT
"""The library and the command that came with this package, and how to turn the cache on from Python.

Programs are cached by ``nvrtccache run -- program``, by ``python -m nvrtccache run -m module``, by :func:`activate` at
the top of a script, or with ``LD_PRELOAD`` set to what :func:`library_path` returns. Importing this package changes
nothing in the process.
"""
import os

from nvrtccache._activate import activate

__all__ = ["__version__", "activate", "command_path", "library_path"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def __getattr__(name: str) -> str:
    # reading the package's metadata takes tens of milliseconds, so importing the package does not
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib.metadata

    return importlib.metadata.version("nvrtccache")


def library_path() -> str:
    """The absolute path of libnvrtccache.so, for ``LD_PRELOAD``.

    The loader splits ``LD_PRELOAD`` at blanks and colons: if the path has one, preload a copy that lies elsewhere
    (``NVRTCCACHE_LIBRARY`` names it to ``nvrtccache run`` and :func:`activate`).
    """
    return os.path.join(_HERE, "lib", "libnvrtccache.so")


def command_path() -> str:
    """The absolute path of the ``nvrtccache`` command, which needs no Python."""
    return os.path.join(_HERE, "bin", "nvrtccache")
