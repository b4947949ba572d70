# SPDX-License-Identifier: MIT
"""Rows of bench.py: links with nvJitLink and programs in NVVM IR, plainly, missed and hit, and what a hit cannot spare."""
import ctypes
import glob
import os
import shutil
import statistics
import subprocess

FUNCTION = 'extern "C" __device__ float scaled(float x, float by) { return x * by; }\n'
KERNEL = """extern "C" __device__ float scaled(float x, float by);
extern "C" __global__ void scale(float *x, float by) { x[threadIdx.x] = scaled(x[threadIdx.x], by); }
"""
CUB = """#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void k(float *p)
{
	typedef cub::BlockRadixSort<float, 128, 4> sort;
	typedef cub::BlockScan<float, 128> scan;
	typedef cub::BlockReduce<float, 128> reduce;
	__shared__ union { sort::TempStorage sort; scan::TempStorage scan; reduce::TempStorage reduce; } storage;
	float keys[4], sum;
	for (int i = 0; i < 4; i++) keys[i] = p[threadIdx.x * 4 + i];
	sort(storage.sort).Sort(keys);
	__syncthreads();
	scan(storage.scan).ExclusiveSum(keys, keys);
	__syncthreads();
	sum = reduce(storage.reduce).Sum(keys);
	if (threadIdx.x == 0) p[0] = sum;
}
"""
STEPS = ("create", "add", "work", "getters", "destroy")


class Missing(Exception):
    """What these rows need and is not here."""


def only(*patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            return path
    raise Missing("no " + " or ".join(patterns))


class Links:
    """`bench` is the module bench.py: its directories, environments and rows."""

    def __init__(self, bench, root):
        self.bench, self.program = bench, os.path.join(bench.build, "tests", "links")
        place = os.path.dirname(bench.library)
        self.linker = only(f"{place}/libnvJitLink.so.[0-9]*")
        self.nvvm = only(f"{place}/libnvvm.so.[0-9]*", f"{root}/nvvm/lib64/libnvvm.so.[0-9]*")
        self.libdevice = only(f"{root}/nvvm/libdevice/libdevice.10.bc")

    def made(self, name, source, what, *options):
        """A file with what NVRTC makes of the source."""
        nvrtc, path = ctypes.CDLL(self.bench.library), os.path.join(self.bench.top, name)
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        words = [option.encode() for option in options]
        results = [nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None),
                   nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words)),
                   getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))]
        data = ctypes.create_string_buffer(size.value)
        results.append(getattr(nvrtc, f"nvrtcGet{what}")(program, data))
        assert not any(results), results
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        with open(path, "wb") as file:
            file.write(data.raw)
        return path

    def run(self, environment, job, repeat=0):
        kind, library, detail, files, options = job
        text = subprocess.run([self.program, kind, library, str(repeat), detail, *files, "--", *options], check=True,
                              env=environment, capture_output=True, text=True).stdout
        return {line.split()[0]: [int(word) / 1e3 for word in line.split()[1:]] for line in text.splitlines()}

    def rows(self, what, job):
        """Fresh processes in turn, and one that goes on; whole lives."""
        bench, times = self.bench, {"plain": [], "miss": [], "hit": []}
        self.run(bench.cached("links"), job)
        for i in range(max(bench.rounds // 2, 3)):
            for kind, environment in (("plain", bench.plain), ("miss", bench.cached(f"links-{i}")),
                                      ("hit", bench.cached("links"))):
                times[kind].append(self.run(environment, job)["first"])
            shutil.rmtree(os.path.join(bench.top, f"links-{i}"), ignore_errors=True)
        lives = {kind: [sum(steps) for steps in values] for kind, values in times.items()}
        plain, hit = statistics.median(lives["plain"]), statistics.median(lives["hit"])
        bench.row(f"{what}, fresh process: without us", plain, "us")
        bench.row(f"{what}, fresh process: miss", statistics.median(lives["miss"]), "us",
                  f"{100 * (statistics.median(m / p for m, p in zip(lives['miss'], lives['plain'])) - 1):+.1f} % pairwise")
        bench.row(f"{what}, fresh process: disk hit", hit, "us", f"{plain / hit:,.0f}x; {self.steps(times['hit'])}")
        memory, real = self.run(bench.cached("links"), job, 500), self.run(bench.plain, job, 10)
        bench.row(f"{what}, same process: memory hit", memory["life"][0], "us",
                  f"{real['life'][0] / memory['life'][0]:,.0f}x; {self.steps([memory['median']])}")

    @staticmethod
    def steps(lives):
        medians = [statistics.median(column) for column in zip(*lives)]
        return "/".join(STEPS) + " " + "/".join(f"{median:,.1f}" for median in medians)

    def unspared(self, job):
        """nvJitLinkCreate() looks for a driver, unless it is told not to use the driver's cache."""
        kind, library, detail, files, options = job
        for option in [], ["-no-cache"]:
            with_option = (kind, library, detail, files, options + option)
            first = statistics.median(self.run(self.bench.plain, with_option)["first"][0] for _ in range(self.bench.rounds))
            later = self.run(self.bench.plain, with_option, 10)["median"][0]
            self.bench.row(" ".join(["nvJitLinkCreate, which a hit cannot spare", *option]), first, "us",
                           f"{later:,.1f} us later in the process")

    def all_rows(self):
        arch, headers = "-arch=sm_90", [f"-I{self.bench.include}/cccl", f"-I{self.bench.include}"]
        lto = ["-rdc=true", "-dlto", arch]
        two = [self.made("scale.ltoir", KERNEL, "LTOIR", *lto), self.made("scaled.ltoir", FUNCTION, "LTOIR", *lto)]
        small = ("link", self.linker, "ltoir", two, [arch, "-lto"])
        large = self.made("cub.ltoir", CUB, "LTOIR", *lto, *headers)
        text = self.made("cub.ptx", CUB, "PTX", "-arch=compute_90", *headers)
        self.rows("LTO link of two modules", small)
        self.rows("LTO link of a CUB kernel", ("link", self.linker, "ltoir", [large], [arch, "-lto"]))
        self.rows("PTX of a CUB kernel, linked", ("link", self.linker, "ptx", [text], [arch]))
        self.unspared(small)
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "functions.ll")
        self.rows("NVVM IR with libdevice", ("nvvm", self.nvvm, self.libdevice, [source], ["-arch=compute_90", "-opt=3"]))


def links(bench, root):
    try:
        Links(bench, root).all_rows()
    except Missing as what:
        print(f"links and NVVM IR: not timed, {what}")
