/* SPDX-License-Identifier: MIT */
/*
 * input: an input of a link, and the number of its bytes that may be read
 *
 * The size that the host passes is trusted where measurements show that the library trusts it: bytes that the library
 * reads may be read here too. For objects and fatbins the library uses the size in their headers, so they are accepted
 * only if the two sizes are equal. From 12.4 on the library reads one byte beyond a text without a terminating NUL. An
 * input of type ANY or of an unknown type need not be a text. Then that byte is not read if it is on another page,
 * which may be unmapped.
 *
 * Calling sequence: pure functions, except those on copies. Threads, fork, signals: no state. Errors: an input that
 * cannot be parsed is not understood. Ownership: a copied input owns its data and its copy of the name.
 */
#ifndef INTERPOSE_NVJITLINK_INPUT_H
#define INTERPOSE_NVJITLINK_INPUT_H

#include "interpose/nvjitlink/functions.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * An input as the host added it. The library copies the data, and the name of LTO-IR. Of every other name it stores the
 * pointer, and reads the name in later calls, to report where a symbol was defined. So the real call gets the host's
 * pointer. An input that is added later than the host added it has a copy of its name, which is refreshed from the
 * host's memory before the library may read it.
 */
struct link_input {
	int type;
	void *data; /* a NUL follows a copy; NULL: the real handle has the data */
	size_t size;
	const char *name;      /* the host's pointer; may be NULL */
	char *name_copy;       /* NULL: no copy is needed */
	size_t name_room;      /* of the copy */
	bool is_added_by_copy; /* the library has a pointer to the copy */
};

/* Returns false if it is not known which bytes the library would read: then the host's call is forwarded. */
bool link_input_understood(const struct link_input *input);
/* Returns true if the library only copies it; false: it compiles it while it is added, or may do so. */
static inline bool link_input_only_copied(const struct link_input *input)
{
	return input->type == NVJITLINK_CUBIN || input->type == NVJITLINK_LTOIR;
}

/* Copies data and name of `from` into `input`. Returns false if there is no memory. */
bool link_input_copy(struct link_input *input, const struct link_input *from);
void link_input_free(struct link_input *input);
/* Returns true if the library stores a pointer to the name. */
bool link_input_keeps_name(const struct link_input *input);
/* Refreshes the copy of the name from the host's memory. If that cannot be read, the copy is not changed. */
void link_input_refresh_name(struct link_input *input);

/* host_data_file() for a file that the host names as an input. */
int link_file_read(const char *path, void **ret_bytes, size_t *ret_size);

#endif
