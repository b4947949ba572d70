/* SPDX-License-Identifier: MIT */
/*
 * timeline: reads a trace file (NVRTCCACHE_TRACE, interpose/compile/timeline.h) event by event, and builds no tree
 *
 * Purpose: the text is a JSON array of objects, and every byte is checked. Runs also leave three other forms, which are
 * accepted: an array without its closing bracket; events separated by commas without brackets (what a pipe gets); and
 * either of these cut within an event (the process was killed, the disk was full). The complete events of a cut text
 * are reported.
 *
 * Calling sequence: timeline_load(), timeline_read(). timeline_read() calls member() for each member of an event, and
 * of its "args", whose value is a string: in order, without the quotes, with the escapes unchanged. Then it calls
 * end(). Members without a following end() belong to an incomplete event. Text nested deeper than TIMELINE_DEPTH is
 * rejected. Errors: TIMELINE_BAD, with the offset of the wrong byte and what was wrong. Threads: any. Ownership: the
 * text stays the caller's.
 */
#ifndef CLI_CONSOLE_TIMELINE_H
#define CLI_CONSOLE_TIMELINE_H

#include <stddef.h>
#include <stdio.h>

#define TIMELINE_DEPTH 32

/* Where a member is. Members at TIMELINE_DEEPER, inside other members, are not reported. */
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

/* TIMELINE_CUT: where the incomplete event begins. TIMELINE_BAD: which byte is wrong, and why. */
struct timeline_fault {
	size_t offset;
	const char *what;
};

/* Reads a stream to its end, or to its first NUL. The caller frees the text. Returns 0 or a negative errno value. */
int timeline_load(FILE *file, char **ret_text, size_t *ret_size);

/* Reads all events. Sets *ret_fault unless it returns TIMELINE_WHOLE. */
enum timeline_ending timeline_read(const char *text, size_t size, const struct timeline_reader *reader,
                                   struct timeline_fault *ret_fault);

#endif
