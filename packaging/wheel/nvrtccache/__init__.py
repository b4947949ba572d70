# SPDX-License-Identifier: MIT
"""Where the library and the command are that came with this package.

Programs are cached by ``nvrtccache run -- program``, by ``python -m nvrtccache run -- program``, or with
``LD_PRELOAD`` set to what :func:`library_path` returns. Importing this changes nothing in the process.
"""
import os

__all__ = ["command_path", "library_path"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def library_path() -> str:
    """The absolute path of libnvrtccache.so, for ``LD_PRELOAD``.

    The loader splits ``LD_PRELOAD`` at blanks and colons: where the path has one, preload a copy that lies elsewhere
    (``NVRTCCACHE_LIBRARY`` names it to ``nvrtccache run``).
    """
    return os.path.join(_HERE, "lib", "libnvrtccache.so")


def command_path() -> str:
    """The absolute path of the ``nvrtccache`` command, which needs no Python."""
    return os.path.join(_HERE, "bin", "nvrtccache")
