#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ctypes_app: NVRTC and the driver from Python by ctypes; the kernel includes headers from disk (-I)."""
import array
import ctypes
import hashlib
import os
import struct
import sys

SOURCE = b"""
#include <saxpy_shape.h>
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
	int i = SAXPY_INDEX;
	if (i < n)
		y[i] = SAXPY_LINE(a, x[i], y[i]);
}
"""
INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
EM_CUDA, SHT_SYMTAB = 190, 2
failed = []


def check(holds, what):
    if not holds:
        failed.append(what)
        print("check failed:", what)


def open_first(names):
    reasons = []
    for name in names:
        try:
            return ctypes.CDLL(name), None
        except OSError as error:
            reasons.append(str(error))
    return None, reasons[0]


def said(nvrtc, call, result):
    print(f"{call}: {result} {nvrtc.nvrtcGetErrorString(result).decode()}")
    return result


def artifact(nvrtc, program, what, getter):
    size = ctypes.c_size_t()
    size_result = getattr(nvrtc, f"nvrtcGet{getter}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    result = getattr(nvrtc, f"nvrtcGet{getter}")(program, buffer)
    data = buffer.raw[: size.value]
    print(f"{what}: size {size_result}, get {result}, {size.value} bytes, sha256 {hashlib.sha256(data).hexdigest()}")
    return data


def cubin_names(image):
    """The names in the symbol tables of a 64-bit little-endian ELF image for the GPU."""
    if image[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", image, 18)[0] != EM_CUDA:
        return set()
    (sections,) = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    # sh_type, sh_offset, sh_size, sh_link of each
    table = [struct.unpack_from("<4xI16xQQI", image, sections + i * size) for i in range(count)]
    names = set()
    for kind, offset, length, link in table:
        if kind != SHT_SYMTAB:
            continue
        strings = image[table[link][1] : table[link][1] + table[link][2]]
        for at in range(offset, offset + length, 24):
            (name,) = struct.unpack_from("<I", image, at)
            names.add(strings[name : strings.index(b"\0", name)].decode())
    return names


def device_of(driver):
    """The compute capability of the first device, or why there is none."""
    result = driver.cuInit(0)
    if result:
        return 0, f"cuInit returns {result}"
    device, value = ctypes.c_int(), ctypes.c_int()
    result = driver.cuDeviceGet(ctypes.byref(device), 0)
    if result:
        return 0, f"cuDeviceGet returns {result}"
    capability = 0
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability = capability * 10 + value.value
    return capability, None


def launch(driver, cubin, ptx):
    count, threads = 10000, 128
    x = array.array("f", (0.5 * i for i in range(count)))
    y = array.array("f", (count - i for i in range(count)))
    size = ctypes.c_size_t(4 * count)
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    on_x, on_y = ctypes.c_uint64(), ctypes.c_uint64()
    device = ctypes.c_int()

    def did(call, *arguments):
        result = getattr(driver, call)(*arguments)
        if result:
            raise RuntimeError(f"{call} returns {result}")

    did("cuDeviceGet", ctypes.byref(device), 0)
    did("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        did("cuCtxSetCurrent", context)
        if driver.cuModuleLoadData(ctypes.byref(module), cubin):
            did("cuModuleLoadData", ctypes.byref(module), ptx)
        did("cuModuleGetFunction", ctypes.byref(function), module, b"saxpy")
        did("cuMemAlloc_v2", ctypes.byref(on_x), size)
        did("cuMemAlloc_v2", ctypes.byref(on_y), size)
        did("cuMemcpyHtoD_v2", on_x, ctypes.c_void_p(x.buffer_info()[0]), size)
        did("cuMemcpyHtoD_v2", on_y, ctypes.c_void_p(y.buffer_info()[0]), size)
        values = [ctypes.c_float(2.5), on_x, on_y, ctypes.c_int(count)]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        blocks = (count + threads - 1) // threads
        did("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None)
        did("cuCtxSynchronize")
        did("cuMemcpyDtoH_v2", ctypes.c_void_p(y.buffer_info()[0]), on_y, size)
        error = max(abs(y[i] - (2.5 * (0.5 * i) + (count - i))) for i in range(count))
        print(f"launch: {'WRONG' if error else 'ok'}, max error {error:g}")
        check(error == 0, "the numbers are right")
        did("cuMemFree_v2", on_x)
        did("cuMemFree_v2", on_y)
        did("cuModuleUnload", module)
    except RuntimeError as error:
        check(False, str(error))
    finally:
        driver.cuDevicePrimaryCtxRelease_v2(device)


def main():
    nvrtc, reason = open_first(["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"])
    if not nvrtc:
        sys.exit(f"NVRTC: {reason}")
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    driver, reason = open_first(["libcuda.so.1"])
    capability = 0
    if driver:
        capability, reason = device_of(driver)

    count = ctypes.c_int()
    said(nvrtc, "nvrtcGetNumSupportedArchs", nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    known = (ctypes.c_int * count.value)()
    said(nvrtc, "nvrtcGetSupportedArchs", nvrtc.nvrtcGetSupportedArchs(known))
    architecture = max(value for value in known if value <= (capability or 90))

    program = ctypes.c_void_p()
    options = [f"-arch=sm_{architecture}".encode(), b"-I", INCLUDE.encode(), b"-std=c++17"]
    result = nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"ctypes_app.cu", 0, None, None)
    said(nvrtc, "nvrtcCreateProgram", result)
    result = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    said(nvrtc, "nvrtcCompileProgram", result)
    check(result == 0, "the compilation succeeds")
    log = artifact(nvrtc, program, "log", "ProgramLog")
    print("log text:", log.rstrip(b"\0").decode())
    ptx = artifact(nvrtc, program, "PTX", "PTX")
    cubin = artifact(nvrtc, program, "CUBIN", "CUBIN")
    artifact(nvrtc, program, "LTO-IR", "LTOIR")
    artifact(nvrtc, program, "OptiX IR", "OptiXIR")
    said(nvrtc, "nvrtcDestroyProgram", nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))

    check(ptx[-1:] == b"\0" and b".entry saxpy(" in ptx, "the PTX is text with .entry saxpy")
    check("saxpy" in cubin_names(cubin), "the cubin is an ELF file with saxpy")
    if not failed:
        if capability:
            launch(driver, cubin, ptx)
        else:
            print(f"launch: skipped (no driver: {reason})")
    print("checks:", "FAILED" if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
