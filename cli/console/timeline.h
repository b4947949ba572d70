/* SPDX-License-Identifier: MIT */
/*
 * timeline: reads a time line (NVRTCCACHE_TRACE, interpose/compile/timeline.h) event by event, and builds no tree
 *
 * Purpose: the text is a JSON array of objects, checked to the last byte. Three more are taken, as a run leaves them:
 * an array that nobody closed; events one after the other with commas between them and no brackets (what a pipe gets);
 * and either of these cut within an event (the process was killed, the disk was full), of which the whole events count.
 *
 * Calling sequence: timeline_load(), timeline_read(), which calls member() for each member of an event and of its
 * "args" whose value is a string, in order, as the text has them: without the quotes, with its escapes. Then it calls
 * end(); members that no end() follows belong to an event that is not whole. Nothing is nested deeper than
 * TIMELINE_DEPTH. Errors: TIMELINE_BAD, with the byte and what was wrong with it. Threads: any. Ownership: the text
 * stays the caller's.
 */
#ifndef CLI_CONSOLE_TIMELINE_H
#define CLI_CONSOLE_TIMELINE_H

#include <stddef.h>
#include <stdio.h>

#define TIMELINE_DEPTH 32

/* DEEPER: inside of other members, and not handed on. */
enum timeline_level { TIMELINE_OF_EVENT, TIMELINE_OF_ARGS, TIMELINE_DEEPER };

struct timeline_text {
	const char *at;
	size_t size;
};

struct timeline_member {
	enum timeline_level level;
	struct timeline_text name, value;
};

struct timeline_reader {
	void (*member)(void *context, const struct timeline_member *member); /* or NULL */
	void (*end)(void *context, const struct timeline_text *event);
	void *context;
};

enum timeline_ending { TIMELINE_WHOLE, TIMELINE_CUT, TIMELINE_BAD };

/* Where the event that was cut begins; or the byte that is wrong, and why. */
struct timeline_fault {
	size_t offset;
	const char *what;
};

/* All that a stream has to give, malloc'ed; NULL where that is nothing. Negative errno values. */
int timeline_load(FILE *file, char **ret_text, size_t *ret_size);

enum timeline_ending timeline_read(const char *text, size_t size, const struct timeline_reader *reader,
                                   struct timeline_fault *ret_fault);

#endif
