/* SPDX-License-Identifier: MIT */
/*
 * input: what is added to a link, and how much of it may be read
 *
 * A size that the host gives is believed where the library believes it too, which is measured: what it reads to the last
 * byte, so may we. It goes by what an object or a fatbin says of itself, so those are taken only where that is the size;
 * and of a text without a NUL at its end it reads one byte more, from 12.4 on. What is of any type, and of none that we
 * know, need not be a text: there that byte is not read where it is on another page, which may not be there.
 *
 * Calling sequence: pure functions. Threads, fork, signals: no state. Errors: an input that is not understood is
 * LINK_INPUT_UNKNOWN, and the library's to judge.
 */
#ifndef INTERPOSE_NVJITLINK_INPUT_H
#define INTERPOSE_NVJITLINK_INPUT_H

#include "interpose/nvjitlink/types.h"

/* What the host added, as it may have to be added once more. */
struct link_input {
	int type;
	void *data; /* a copy has a NUL behind its size; NULL: the real handle has it */
	size_t size;
	char *name; /* NULL as given */
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

#endif
