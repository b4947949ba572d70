# SPDX-License-Identifier: MIT
"""cuDNN: plans that are compiled at run time, built for an H100 that is described in JSON. cuDNN spells its sources only to
NVRTC, by a callback (__nvrtcCPEx), except those of normalizations. What would have been loaded are NVRTC's CUBINs.

Plans may be named: then these alone are built, those that cuDNN can build. CUDNN_DEVICE is another device's capability.
"""
import json
import os
import sys

import device
import report

device.pretend("libcuda.so.1", "libcudart.so.13", libraries=device.packages(), CUDNN_NVRTC_RUNTIME_LINKING="1")
import cudnn  # noqa: E402

DEVICE = {
    "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
    "multiProcessorCount": 132, "smCountOrigin": 0, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
    "maxSharedMemoryPerBlockOptin": 232448, "oversizedSharedMemoryPerBlock": 232448, "reservedSharedMemoryPerBlock": 1024,
    "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0,
    "isTccDriver": 0, "supportCoopLaunch": 1, "smClockRateKHz": 1980000, "memClockRateKHz": 2619000, "memoryBusWidth": 5120,
    "l2CacheSize": 52428800, "deviceName": "NVIDIA H100", "deviceVer": int(os.environ.get("CUDNN_DEVICE", "900")), "driverVer": 13050,
    "totalGlobalMem": 85899345920, "cudaDeviceId": 0, "ccVersion": 900}


HALF, FLOAT = cudnn.data_type.HALF, cudnn.data_type.FLOAT
PROPERTIES = cudnn.create_device_properties(json.dumps(DEVICE))


class Graph(cudnn.pygraph):
    def __init__(self):
        super().__init__(io_data_type=HALF, intermediate_data_type=FLOAT, compute_data_type=FLOAT, device_property=PROPERTIES)

    def input(self, name, dim, stride=None, data_type=HALF):
        packed = [1]
        for size in reversed(dim[1:]):
            packed.insert(0, packed[0] * size)
        return self.tensor(name=name, dim=dim, stride=stride or packed, data_type=data_type)

    def product(self):
        return self.matmul(self.input("a", [1, 256, 128]), self.input("b", [1, 128, 192]))


def matmul(activation):
    graph = Graph()
    biased = graph.bias(graph.product(), graph.input("bias", [1, 1, 192]))
    return graph, getattr(graph, activation)(biased)


def matmul_maximum():
    graph = Graph()
    return graph, graph.reduction(graph.product(), mode=cudnn.reduction_mode.MAX).set_dim([1, 256, 1]).set_stride([256, 1, 1])


def convolution():
    graph = Graph()
    image = graph.input("x", [8, 64, 28, 28], [64 * 784, 1, 28 * 64, 64])
    weights = graph.input("w", [64, 64, 3, 3], [576, 1, 192, 64])
    return graph, graph.relu(graph.conv_fprop(image, weights, padding=[1, 1], stride=[1, 1], dilation=[1, 1]))


def pointwise():
    graph = Graph()
    return graph, graph.relu(graph.add(graph.input("x", [8, 64, 32]), graph.input("z", [8, 64, 32])))


def attention():
    graph, dim = Graph(), [2, 4, 512, 64]
    q, k, v = (graph.input(name, dim) for name in "qkv")
    output, _ = graph.sdpa(q=q, k=k, v=v, is_inference=True, attn_scale=0.125, use_causal_mask=True)
    return graph, output.set_dim(dim).set_stride([4 * 512 * 64, 512 * 64, 64, 1])


def layer_norm():
    graph, rows = Graph(), [1024, 1, 1024, 1024]
    scale, bias = (graph.input(name, [1, 1024, 1, 1], rows, FLOAT) for name in ("scale", "bias"))
    epsilon = graph.tensor(name="epsilon", dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=FLOAT, is_pass_by_value=True)
    output, _, _ = graph.layernorm(norm_forward_phase=cudnn.norm_forward_phase.INFERENCE, scale=scale, bias=bias, epsilon=epsilon,
                                   input=graph.input("x", [64, 1024, 1, 1], rows))
    return graph, output


PLANS = {"matmul, bias, relu": lambda: matmul("relu"), "matmul, bias, gelu": lambda: matmul("gelu"),
         "matmul, maximum": matmul_maximum, "convolution, relu": convolution, "pointwise": pointwise, "attention": attention,
         "layer norm": layer_norm}


def build(name):
    graph, output = PLANS[name]()
    output.set_output(True).set_data_type(FLOAT if "maximum" in name else HALF)
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    with report.compiling():
        graph.build_plans()


names = sys.argv[1:] or list(PLANS)
report.begin("cuDNN", cudnn.backend_version_string(), compiles=len(names))
for name in names:
    try:
        build(name)
    except cudnn.cudnnGraphNotSupportedError:
        if name not in sys.argv:
            raise
    device.products(name)
report.end()
