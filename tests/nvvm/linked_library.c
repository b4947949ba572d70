/* SPDX-License-Identifier: MIT */
/* A library that is linked against libNVVM, and so calls it past every door. */
#include "tests/fake/nvvm/nvvm.h"

size_t result_size(nvvmProgram program);

__attribute__((visibility("default"))) size_t result_size(nvvmProgram program)
{
	size_t size = 0;

	(void)nvvmGetCompiledResultSize(program, &size);
	return size;
}
