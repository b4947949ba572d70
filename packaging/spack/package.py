# SPDX-License-Identifier: MIT
# For a Spack repository of your own: packages/nvrtccache/package.py. `git` is where you keep the sources.
from spack.package import *


class Nvrtccache(MakefilePackage):
    """Cache of CUDA run-time compilation (NVRTC, nvJitLink, libNVVM) for unmodified programs."""

    git = "file:///srv/git/libnvrtccache.git"

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    requires("platform=linux")
    requires("target=x86_64:", "target=aarch64:", policy="one_of")

    depends_on("c", type="build")
    depends_on("binutils", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    # linked statically and as headers alone; Spack's compiler finds both by itself
    depends_on("libb2")
    depends_on("xxhash")
    # of nvrtccache-agent
    depends_on("hiredis")
    depends_on("curl")
    depends_on("zstd")

    def build(self, spec, prefix):
        make("all", f"PREFIX={prefix}")

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}")
