/* SPDX-License-Identifier: MIT */
/*
 * about: a description of a result, for people (docs/DESIGN.md C8)
 *
 * Purpose: people cannot read a key, so each result carries a description of its request: compiler and release,
 * program, options, name expressions, the program that compiled it, the directories that it depends on, its artifacts,
 * and a digest of each part of the request, which shows the part in which two requests differ. It contains no text of
 * a source or header. No look-up depends on it: older results, which have no description, are served as well.
 *
 * Calling sequence: about_begin(), then about_text(), about_part() and about_artifact() in any order on the caller's
 * stream; about_read() returns the facts in the same order. Errors: those of the stream. about_read() returns -EBADMSG
 * if the bytes are damaged, -EPROTONOSUPPORT if they have another format. Texts contain no NUL but any other bytes.
 * Threads, fork, signals: no state. Ownership: facts point into the bytes.
 */
#ifndef KEYGEN_ABOUT_H
#define KEYGEN_ABOUT_H

#include "keygen/digest.h"
#include "keygen/stream.h"

#include <stdbool.h>

/* The section of an entry that holds the description. */
#define ABOUT_SECTION 8
/* A section of every compiler's results; its value is the return code. */
#define ABOUT_CODE_SECTION 1
/* A section that marks a result cached by NVRTCCACHE_SLOPPINESS, which is not sent to other nodes. */
#define ABOUT_SLOPPY_SECTION 7

/* These numbers are in the bytes. */
enum about_kind {
	ABOUT_COMPILER = 2,   /* "nvrtc" */
	ABOUT_TITLE = 3,      /* "NVRTC" */
	ABOUT_RELEASE = 4,    /* "13.0" */
	ABOUT_PROGRAM = 5,    /* the name that the host passed, or the default name */
	ABOUT_OPTION = 6,     /* in order */
	ABOUT_EXPRESSION = 7, /* in order */
	ABOUT_COMMAND = 8,    /* the program that compiled it */
	ABOUT_BOUND = 9,      /* a directory whose name the result depends on */
	ABOUT_PART = 10,      /* `text` names a part of the request, `digest` is its digest */
	ABOUT_ARTIFACT = 11,  /* `text` names it; it starts `skip` bytes into section `tag` */
	ABOUT_STEP = 12,      /* what compiled, if the compiler has several: "link", "verify" */
	ABOUT_ROOT = 13,      /* the directory that dependencies are relative to (surroundings.h) */
	ABOUT_BUILD = 14      /* "13.0.88": the full release, if the library's file name has it */
};

#define ABOUT_DIGEST_BYTES 8

struct about_fact {
	enum about_kind kind;
	const char *text; /* without a terminating NUL */
	size_t size;
	const uint8_t *digest;
	uint32_t tag, skip;
};

/* Writes the format number. The functions below add one fact each. */
void about_begin(struct stream *stream);
void about_text(struct stream *stream, enum about_kind kind, const char *text);
void about_sized(struct stream *stream, enum about_kind kind, const char *text, size_t size);
/* Adds the digest of a part of the request. */
void about_part(struct stream *stream, const char *name, const struct span *content);
/* Adds a part named by a kind and, unless that is empty, a name: "header" and the header's name. */
void about_part_of(struct stream *stream, const char *kind, const struct span *name, const struct span *content);
void about_artifact(struct stream *stream, const char *name, uint32_t tag, uint32_t skip);

/*
 * Calls `each` for every fact. A non-zero return of `each` ends the reading and is returned. Facts of unknown kinds,
 * from later versions, are skipped.
 */
int about_read(const void *bytes, size_t size, int (*each)(const struct about_fact *fact, void *context),
               void *context);

/* Returns the size of the longest beginning with whole facts that has at most `most` bytes; 0: it has none. */
size_t about_fit(const void *bytes, size_t size, size_t most);

/*
 * The GPU architecture that the options name: "sm_90" in -arch=sm_90 and -arch sm_90, "compute_90" in
 * --gpu-architecture=compute_90, ... Calling sequence: a zeroed struct, about_see_arch() for each option in order; then
 * read `text` (NULL: no option names an architecture). If several options do, the last one counts.
 */
struct about_arch {
	const char *text; /* points into the options; without a terminating NUL */
	size_t size;
	bool comes; /* the last option had no value: the next option is the architecture */
};

/* Notes the architecture if `option` names it, or is the value of the option before. */
void about_see_arch(struct about_arch *arch, const char *option, size_t size);

/*
 * lowered: name expressions and their lowered names, as a section of NVRTC's results
 *
 * Calling sequence: lowered_put() per expression on the caller's stream; lowered_next() on a cursor over the stream's
 * bytes until it returns false. Errors: those of the stream; the cursor has `failed` set if the bytes are damaged.
 */

/* The section of NVRTC's entries that holds them. */
#define LOWERED_SECTION 2

struct lowered {
	const char *expression; /* ends with a NUL */
	int code;               /* what the compiler returned for it */
	const char *name;       /* ends with a NUL; NULL: NVRTC returned none */
};

void lowered_put(struct stream *stream, const char *expression, int code, const char *name);
/* Returns false at the end, or if the bytes are damaged. */
bool lowered_next(struct cursor *cursor, struct lowered *ret_lowered);

#endif
