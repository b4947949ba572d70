/* SPDX-License-Identifier: MIT */
/* shape: included from disk by ctypes_app.py's kernel */
#pragma once
#include "saxpy_line.h"
#define SAXPY_INDEX (blockIdx.x * blockDim.x + threadIdx.x)
