/* SPDX-License-Identifier: MIT */
/*
 * input: what is added to a link, and how much of it may be read
 *
 * A size that the host gives is believed where the library believes it too, which is measured: what it reads to the last
 * byte, so may we. It goes by what an object or a fatbin says of itself, so those are taken only where that is the size;
 * and of a text without a NUL at its end it reads one byte more, from 12.4 on. What is of any type, and of none that we
 * know, need not be a text: there that byte is not read where it is on another page, which may not be there.
 *
 * Calling sequence: pure functions, but for those of copies. Threads, fork, signals: no state. Errors: an input that is
 * not understood is LINK_INPUT_UNKNOWN, and the library's to judge. Ownership: a copied input owns its data and its copy
 * of the name.
 */
#ifndef INTERPOSE_NVJITLINK_INPUT_H
#define INTERPOSE_NVJITLINK_INPUT_H

#include "interpose/nvjitlink/types.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * What the host added. The library copies data, and the name of LTO-IR. Of every other name it keeps the pointer, and
 * reads it again in later calls, when it says where a symbol was defined. So it is given the host's pointer; an input
 * that is added later than the host added it has a copy of its name, which is made to say what the host's memory says
 * before the library may read it again.
 */
struct link_input {
	int type;
	void *data; /* a copy has a NUL behind its size; NULL: the real handle has it */
	size_t size;
	const char *name;      /* the host's pointer; NULL as given */
	char *name_copy;       /* NULL: none is needed */
	size_t name_room;      /* of the copy */
	bool is_added_by_copy; /* the library has a pointer to the copy */
};

enum link_input_kind {
	LINK_INPUT_UNKNOWN,
	LINK_INPUT_COPIED,   /* the library copies it and does nothing else */
	LINK_INPUT_WORKED_ON /* PTX, or what may hold some: it is compiled while it is added */
};
enum link_input_kind link_input_kind(const struct link_input *input);

/* Where does a text end as a C string? That is part of a key. */
enum link_text_end { LINK_TEXT_NONE, LINK_TEXT_ENDS_INSIDE, LINK_TEXT_ENDS_BEHIND, LINK_TEXT_DOES_NOT_END };
enum link_text_end link_input_end(const struct link_input *input);

/* Copies data and name of `from`. False: no memory. */
bool link_input_copy(struct link_input *input, const struct link_input *from);
void link_input_free(struct link_input *input);
/* Does the library keep a pointer to the name? */
bool link_input_keeps_name(const struct link_input *input);
/* The copy of the name says what the host's memory says. Where that cannot be read it stays as it is. */
void link_input_refresh_name(struct link_input *input);

/*
 * file: the content of a file that the host names
 *
 * Calling sequence: link_file_read(), then free(). Threads, fork, signals: no state. Errors: a negative errno; -EINVAL for
 * what is no plain file or has nothing in it, -EFBIG, -EAGAIN where it changed meanwhile.
 */

/* With a NUL behind the last byte. */
int link_file_read(const char *path, void **ret_bytes, size_t *ret_size);

#endif
