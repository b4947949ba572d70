# SPDX-License-Identifier: MIT
"""explain_host: compiles what each argument asks for as JSON, with the NVRTC that $NVRTC names; prints the return codes"""
import ctypes, json, os, sys
lib = ctypes.CDLL(os.environ["NVRTC"])
def strings(list):
    return (ctypes.c_char_p * max(1, len(list)))(*[text.encode("utf-8", "surrogateescape") for text in list])
for asked in sys.argv[1:]:
    asked = json.loads(asked)
    if "round" in asked:
        ctypes.CDLL("libm.so.6").fesetround(asked["round"])
    headers, options, program = asked.get("headers", {}), asked.get("options", ["-DN=4"]), ctypes.c_void_p()
    source = asked.get("source", '__global__ void k(int *p) { *p = N; }\ntemplate<int n> __global__ void t(int *p) { *p = n; }\n')
    assert lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), asked.get("name", "a.cu").encode(), len(headers),
                                  strings(list(headers.values())), strings(list(headers))) == 0
    for name in asked.get("names", []):
        assert lib.nvrtcAddNameExpression(program, name.encode()) == 0
    print(lib.nvrtcCompileProgram(program, len(options), strings(options)))
