# SPDX-License-Identifier: MIT
"""The wheel's tag: any Python 3, one machine, and the oldest glibc that the built files ask for."""
import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["NVRTCCACHE_PLATFORM"]
