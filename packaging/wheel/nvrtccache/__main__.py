# SPDX-License-Identifier: MIT
"""``python -m nvrtccache`` and the script ``nvrtccache``: this process becomes the command.

Two things are added to it: ``run -m MODULE`` and ``run -c CODE`` run this interpreter, and ``install-kernel`` makes a
kernel for Jupyter that is cached.
"""
import argparse
import os
import sys
from typing import List, NoReturn

from nvrtccache import command_path
from nvrtccache._activate import preload_list


def _with_interpreter(arguments: List[str]) -> List[str]:
    """Puts this interpreter in front of -m or -c, if one stands where the program would."""
    for at, argument in enumerate(arguments):
        if argument in ("-m", "-c"):
            return [*arguments[:at], "--", sys.executable, *arguments[at:]]
        if not argument.startswith("-") or argument == "--":
            break
    return arguments


def _install_kernel(arguments: List[str]) -> None:
    parser = argparse.ArgumentParser(prog="nvrtccache install-kernel", description="Install a kernel for Jupyter that "
                                     "is this Python with the cache. 'jupyter kernelspec remove NAME' removes it.")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for this user, in any Jupyter (default)")
    place.add_argument("--sys-prefix", action="store_true", help="in this environment (virtual or conda)")
    parser.add_argument("--name", default="nvrtccache", help="default: %(default)s")
    parser.add_argument("--display-name", default="Python 3 (nvrtccache)", help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        from ipykernel.kernelspec import install
    except ImportError:
        parser.exit(1, f"nvrtccache: {sys.executable} has no ipykernel (pip install ipykernel)\n")
    prefix = sys.prefix if options.sys_prefix else None
    try:
        path = install(user=prefix is None, prefix=prefix, kernel_name=options.name, display_name=options.display_name,
                       env={"LD_PRELOAD": preload_list()})
    except (OSError, RuntimeError, ValueError) as error:
        parser.exit(1, f"nvrtccache: {error}\n")
    print(f"Installed kernel '{options.name}' in {path}")


def main() -> NoReturn:
    arguments = sys.argv[1:]
    if arguments[:1] == ["install-kernel"]:
        sys.exit(_install_kernel(arguments[1:]))
    if arguments[:1] == ["run"]:
        arguments[1:] = _with_interpreter(arguments[1:])
    # the command finds the library beside itself; whatever Python has buffered would be lost
    sys.stdout.flush()
    os.execv(command_path(), ["nvrtccache", *arguments])


if __name__ == "__main__":
    main()
