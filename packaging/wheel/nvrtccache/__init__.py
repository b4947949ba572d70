# SPDX-License-Identifier: MIT
"""The library and the command that came with this package, and how to turn the cache on from Python.

Programs are cached by ``nvrtccache run -- program``, by ``python -m nvrtccache run -m module``, by :func:`activate` at
the top of a script, or with ``LD_PRELOAD`` set to what :func:`library_path` returns. Importing this package changes
nothing in the process.
"""
import os

from nvrtccache._activate import activate

__all__ = ["activate", "command_path", "library_path"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def library_path() -> str:
    """The absolute path of libnvrtccache.so, for ``LD_PRELOAD``.

    The loader splits ``LD_PRELOAD`` at blanks and colons: if the path has one, preload a copy that lies elsewhere
    (``NVRTCCACHE_LIBRARY`` names it to ``nvrtccache run`` and :func:`activate`).
    """
    return os.path.join(_HERE, "lib", "libnvrtccache.so")


def command_path() -> str:
    """The absolute path of the ``nvrtccache`` command, which needs no Python."""
    return os.path.join(_HERE, "bin", "nvrtccache")
