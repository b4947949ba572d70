/* SPDX-License-Identifier: MIT */
/* line: included from disk by ctypes_app.py's kernel, through saxpy_shape.h beside it */
#pragma once
#define SAXPY_LINE(a, x, y) ((a) * (x) + (y))
