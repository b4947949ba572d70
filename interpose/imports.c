/* SPDX-License-Identifier: MIT */
#include "interpose/imports.h"

#include <string.h>

_Atomic(uintptr_t) imports_real[IMPORT_COUNT];

const struct import_entry imports[IMPORT_COUNT] = {
#define IMPORT_WATCHED(name)   {#name, &replacement_##name},
#define IMPORT_FORBIDDEN(name) {#name, NULL},
    IMPORTS(IMPORT_WATCHED, IMPORT_FORBIDDEN)
#undef IMPORT_WATCHED
#undef IMPORT_FORBIDDEN
};

const struct import_entry *imports_find(const char *name)
{
	size_t low = 0;
	size_t high = IMPORT_COUNT;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, imports[middle].name);

		if (order == 0) {
			return &imports[middle];
		}
		if (order < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return NULL;
}
