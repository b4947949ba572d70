/* SPDX-License-Identifier: MIT */
/* The table and its look-up. watch.c patches the slots. */
#include "interpose/watch/imports.h"

#include <stdlib.h>
#include <string.h>

_Atomic(uintptr_t) imports_real[IMPORT_COUNT];

const struct import_entry imports[IMPORT_COUNT] = {
#define IMPORT_WATCHED(name) {#name, &replacement_##name},
#define IMPORT_CLEARED(name) {#name, NULL},
    IMPORTS(IMPORT_WATCHED, IMPORT_CLEARED, IMPORT_CLEARED)
#undef IMPORT_WATCHED
#undef IMPORT_CLEARED
};

static int by_name(const void *name, const void *entry)
{
	return strcmp(name, ((const struct import_entry *)entry)->name);
}

const struct import_entry *imports_find(const char *name)
{
	return bsearch(name, imports, IMPORT_COUNT, sizeof(imports[0]), by_name);
}
