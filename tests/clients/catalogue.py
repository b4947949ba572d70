# SPDX-License-Identifier: MIT
"""The clients that scripts/clients tries: where each comes from, and how it gets into build/clients."""
import fcntl
import glob
import os
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = os.path.join(REPOSITORY, "build", "clients")

NVJITLINK = {"12": "nvidia-nvjitlink-cu12==12.*", "13": "nvidia-nvjitlink==13.*"}
CUFFT = {"12": "nvidia-cufft-cu12==11.*", "13": "nvidia-cufft==12.*"}
CUBLAS = {"12": "nvidia-cublas-cu12==12.*", "13": "nvidia-cublas==13.*"}
NVRTC = {"12": "nvidia-cuda-nvrtc-cu12==12.*", "13": "nvidia-cuda-nvrtc==13.*"}
NVVM = {"12": "nvidia-cuda-nvcc-cu12==12.*", "13": "nvidia-nvvm==13.*"}


class Client:
    """{major} stands for NVRTC's major version, {nvjitlink} and {nvvm} for the packages with nvJitLink and libNVVM,
    which an NVRTC from wheels does not bring; `binds` says how the client reaches the compilers (bare: it imports no
    versions; lazily: it is timed with LD_BIND_NOW), `stub` that it must have some driver's library to start, `only_named` why it is tried only where it is named. `source` is the variable
    that names a directory with its sources, of which `holds` is one; its driver builds it when called with --build.
    `program` is a sample of ours in build/apps that the driver starts. What is not `reached` has NVRTC inside, where
    no preload gets to. What is `private` uses private functions of a compiler, so all of it is bypassed. With `own`
    packages are installed into an environment of their own, without what they ask for. `debian` packages are unpacked into
    a directory, which is the client's source."""

    def __init__(self, name, driver, binds, packages=(), quick=True, stub=False, majors=("12", "13"), only_named="",
                 source="", holds="", program="", reached=True, private=False, own=False, debian=()):
        self.name, self.driver, self.binds, self.packages = name, driver, binds, packages
        self.quick, self.stub, self.majors, self.only_named = quick, stub, majors, only_named
        self.source, self.holds, self.program, self.reached, self.private = source, holds, program, reached, private
        self.own, self.debian = own, debian

    def requirements(self, major):
        return [package.format(major=major, nvvm=NVVM[major], nvjitlink=NVJITLINK[major], nvrtc=NVRTC[major],
                               cublas=CUBLAS[major], cufft=CUFFT[major]) for package in self.packages]


# numba-cuda 0.30 uses numpy.row_stack, which numpy 2.5 (for Python 3.12 and later) no longer has.
NUMBA = ["cuda-bindings=={major}.*", "cuda-core==1.2.*", "numba-cuda==0.30.*", "numpy<2.5", "{nvjitlink}", "{nvvm}"]
COMPUTE = ["cuda-bindings=={major}.*", "cuda-core==1.2.*", "cuda-cccl==1.2.*", "{nvjitlink}"]

# Where majors is 13 alone: cuda.bindings of 12 takes an NVRTC of 13 where the loader knows one, and nvJitLink 12 then
# refuses its LTO-IR; links of programs that are linked with names of 12 are cached only under those of 12.0 (docs/LIMITS.md).
CLIENTS = [
    Client("cuda.bindings", "cuda_bindings", "dlsym by dlopen", ["cuda-bindings=={major}.*"]),
    Client("cuda.core", "cuda_core", "cuda.bindings", ["cuda-bindings=={major}.*", "cuda-core==1.2.*"]),
    Client("Linker", "cuda_core_linker", "cuda.bindings",
           ["cuda-bindings=={major}.*", "cuda-core==1.2.*", "{nvjitlink}", "{nvvm}"], majors=("13",)),
    Client("CuPy", "cupy_compiler", "dlsym by dlopen", ["cuda-bindings=={major}.*", "cupy-cuda{major}x==14.*"]),
    Client("tinygrad", "tinygrad_compiler", "ctypes, path", ["tinygrad==0.14.*"]),
    Client("NVPTXCompiler", "tinygrad_linker", "ctypes, path", ["tinygrad==0.14.*", "{nvjitlink}"]),
    Client("numba-cuda", "numba_cuda_nvrtc", "cuda.core",
           ["cuda-bindings=={major}.*", "cuda-core==1.2.*", "numba-cuda==0.30.*", "{nvvm}"]),
    Client("numba launch", "numba_cuda_launches", "cuda.bindings", NUMBA, majors=("13",)),
    Client("numba compile", "numba_cuda_compile", "cuda.bindings", NUMBA, majors=("13",)),
    Client("numba-mlir", "numba_mlir_compile", "cuda.bindings",
           ["cuda-bindings=={major}.*", "cuda-core==1.2.*", "numba-cuda-mlir==0.6.*", "numpy<2.5", "{nvjitlink}", "{nvvm}"],
           quick=False, majors=("13",)),
    Client("nvmath", "nvmath_device", "linked",
           ["cuda-bindings=={major}.*", "nvmath-python==1.0.*", "nvidia-libmathdx-cu13==0.4.*", "cffi", "numpy<2.5",
            "numba-cuda==0.30.*", "numba-cuda-mlir==0.6.*", "{nvjitlink}", "{nvvm}"], quick=False, majors=("13",)),
    Client("cuTile", "cutile", "its own process", ["cuda-tile==1.7.*", "nvidia-cuda-tileiras==13.5.*", "{nvvm}"],
           majors=("13",), private=True),
    Client("cuDNN", "cudnn_plans", "dlsym by dlopen",
           ["cuda-bindings==13.*", "cuda-pathfinder", "nvidia-cudnn-cu{major}==9.28.*", "nvidia-cudnn-frontend==1.32.*", "numpy<2.5",
            "{nvrtc}", "{cublas}"], quick=False, own=True),
    Client("jit_lto", "jit_lto", "linked", program="jit_lto", majors=("13",)),
    Client("newest header", "jit_lto_newest", "linked", ["{nvjitlink}"], majors=("13",)),
    Client("OpenMM", "openmm_kernels", "linked, lazily", ["openmm==8.6.*", "openmm-cuda-{major}==8.6.*", "{cufft}", "{nvjitlink}", "numpy"],
           quick=False, own=True),
    Client("KeOps", "keops_formulas", "bare, lazily", ["--no-binary=keopscore", "keopscore==2.3", "numpy<2.5"], quick=False),
    Client("hashcat", "hashcat_masks", "dlsym by dlopen", quick=False, debian=("hashcat", "hashcat-data", "libminizip1")),
    Client("libcuvs", "cuvs_beside_numba", "linked, beside", NUMBA + [
        "libcuvs-cu13==26.10.*", "librmm-cu13", "libkvikio-cu13", "rapids-logger", "nvidia-cublas", "nvidia-cusolver",
        "nvidia-cusparse", "nvidia-curand", "nvidia-nccl-cu13"], quick=False, majors=("13",), only_named="2 GB to get"),
    Client("cuda.compute", "cuda_compute", "linked", quick=False, stub=True, majors=("13",), packages=COMPUTE),
    Client("radix sort", "cuda_compute_sort", "linked", quick=False, stub=True, majors=("13",), packages=COMPUTE),
    Client("TVM", "tvm_nvcc", "cuda.bindings", ["cuda-bindings=={major}.*", "apache-tvm==0.27.*"], quick=False, stub=True,
           majors=("13",)),
    Client("PyTorch", "pytorch_nvrtc", "ctypes, its own", ["torch==2.15.*"], quick=False, majors=("13",),
           only_named="5 GB to get"),
    Client("tilelang", "tilelang_nvrtc", "cuda.bindings", ["cuda-bindings=={major}.*", "tilelang==0.1.15"], quick=False,
           stub=True, majors=("13",), only_named="5 GB to get, PyTorch among it"),
    Client("Slang", "slang_ptx", "dlsym by dlopen", ["slangpy==0.43.*"], quick=False),
    Client("Warp", "warp_static", "static, hidden", ["warp-lang==1.19.*"], quick=False, reached=False),
    Client("jitify2", "jitify2_tests", "dlsym by dlopen", quick=False, source="JITIFY", holds="jitify2.hpp"),
    Client("CCCL", "cccl_nvrtcc", "linked", quick=False, stub=True, source="CCCL",
           holds="libcudacxx/test/utils/nvidia/nvrtc/nvrtcc.cpp"),
    Client("CUB", "cccl_cub", "ctypes, path", quick=False, source="CCCL", holds="cub/test/catch2_test_nvrtc.cu"),
]


# What is known of others, and why they are not tried.
ELSEWHERE = {
    "cuFFT": "not driven: with callbacks as LTO-IR, cufftCreate() gives 5, because the runtime inside needs a real driver",
    "cuBLASLt": "not driven: has __nvrtcCPEx; cublasLtCreate() gives 1, because the runtime inside needs a real driver",
    "cuTENSOR": "not driven: has __nvrtcCPEx; cutensorCreate() gives 18, because the runtime inside needs a real driver",
    "cuDF": "not tried: needs a GPU; jitify2 and librtcx are in it",
    "ONNX Runtime": "not tried: needs a GPU",
    "TensorRT": "not tried: needs a GPU",
    "Dr.Jit": "has no NVRTC: it writes PTX itself",
    "Taichi": "has no NVRTC: it writes PTX through LLVM",
}


class Unavailable(Exception):
    """Why a client cannot be tried here."""


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"


def run(command, **extra):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **extra)


def unpack(packages, place):
    if os.path.exists(place):
        return
    with tempfile.TemporaryDirectory(dir=HOME) as work:
        try:
            done = run(["apt-get", "download", *packages], cwd=work)
            for file in glob.glob(work + "/*.deb") if done.returncode == 0 else []:
                done = run(["dpkg", "-x", file, work + "/root"])
        except OSError as why:
            raise Unavailable(f"packages of Debian: {why}") from why
        if done.returncode != 0:
            raise Unavailable("apt-get: " + last_line(done.stderr))
        os.rename(work + "/root", place)


class Environment:
    """A Python of their own for the clients of one major version of NVRTC."""

    def __init__(self, major, name=""):
        self.major = major
        self.place = os.path.join(HOME, "cu" + major + name)
        self.python = os.path.join(self.place, "bin", "python")
        self.out_of_reach = False

    def of(self, client):
        return Environment(self.major, "-" + client.driver) if client.own else self

    def make(self):
        """Anew where it is not there or its Python is gone. Some systems have venv but not the pip to go in there."""
        if os.path.exists(self.python) and run([self.python, "-c", ""]).returncode == 0:
            return
        shutil.rmtree(self.place, ignore_errors=True)
        done = run([sys.executable, "-m", "venv", self.place])
        if done.returncode != 0:
            done = run([sys.executable, "-m", "venv", "--clear", "--without-pip", self.place])
        if done.returncode != 0:
            raise Unavailable("no virtual environment: " + last_line(done.stderr or done.stdout))

    def pip(self):
        if run([self.python, "-m", "pip", "--version"]).returncode == 0:
            return [self.python, "-m", "pip"]
        return [sys.executable, "-m", "pip", "--python", self.python]

    def install(self, client):
        if self.major not in client.majors:
            raise Unavailable(f"not for NVRTC {self.major}")
        os.makedirs(HOME, exist_ok=True)
        with open(os.path.join(HOME, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if client.debian:
                unpack(client.debian, os.path.join(HOME, client.driver))
            if client.packages:
                self.make()
                self.get(client)

    def get(self, client):
        wanted = client.requirements(self.major)
        stamp = os.path.join(self.place, client.driver + ".installed")
        if os.path.exists(stamp):
            with open(stamp) as file:
                if file.read().split() == wanted:
                    return
        if self.out_of_reach:
            raise Unavailable("PyPI cannot be reached")
        done = run(self.pip() + ["--disable-pip-version-check", "--retries", "1", "--timeout", "20", "install", "--quiet",
                                 "--only-binary=:all:"] + ["--no-deps"] * client.own + wanted)
        if done.returncode != 0:
            self.out_of_reach = "Retrying (" in done.stderr
            raise Unavailable("PyPI cannot be reached" if self.out_of_reach else "pip: " + last_line(done.stderr))
        with open(stamp, "w") as file:
            file.write("\n".join(wanted) + "\n")
