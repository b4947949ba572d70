# SPDX-License-Identifier: MIT
"""``python -m nvrtccache`` and the script ``nvrtccache``: this process becomes the command."""
import os
import sys
from typing import NoReturn

from nvrtccache import command_path


def main() -> NoReturn:
    # the command finds the library beside itself; whatever Python has buffered would be lost
    sys.stdout.flush()
    os.execv(command_path(), ["nvrtccache", *sys.argv[1:]])


if __name__ == "__main__":
    main()
