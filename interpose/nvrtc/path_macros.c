/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/path_macros.h"

#include <string.h>

static const char *const macros[] = {"assert",          "CubDebug",         "_CUDA_CUB_RET_IF_FAIL",
                                     "_CCCL_ASSERT",    "_CCCL_VERIFY",     "CUB_COMP_DEPR",
                                     "_CCCL_COMP_DEPR", "THRUST_COMP_DEPR", "_LIBCUDACXX_ASSERT"};

static bool is_small_letter(uint8_t byte)
{
	return (uint8_t)(byte - 'a') < 26;
}

/* Macros of one family go on with a capital or an underscore; "assertion" is none, nor is "static_assert". */
static bool names(const uint8_t *text, size_t size, const char *macro)
{
	const size_t length = strlen(macro);
	const uint8_t *at = text, *end = text + size;

	while ((at = memmem(at, (size_t)(end - at), macro, length))) {
		uint8_t before = at > text ? at[-1] : ' ';

		at += length;
		if (before != '_' && !is_small_letter(before | 0x20) && (at == end || !is_small_letter(*at))) {
			return true;
		}
	}
	return false;
}

bool path_macros_named(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++) {
		if (names(text, size, macros[i])) {
			return true;
		}
	}
	return false;
}
