/* SPDX-License-Identifier: MIT */
/*
 * about: what a result is of, for people (docs/DESIGN.md C8)
 *
 * Purpose: a key says nothing to anybody, so each result carries what it was asked by: compiler and release, program,
 * options, name expressions, who asked, what it is bound to, which artifacts it has, and a digest for each part of the
 * request, by which two requests can be told apart. No text of a source or header is in it, nothing but people depends on
 * it, and results without one (older ones) are served like others.
 *
 * Calling sequence: about_begin(), about_text(), about_part(), about_artifact() in any order on a stream of the caller's;
 * about_read() over its bytes gives one fact after the other, in that order.
 * Errors: those of the stream; -EBADMSG from about_read() where the bytes are damaged, -EPROTONOSUPPORT where they are of
 * another format. Texts have no
 * NUL in them; they may be of any bytes, and in any number. Threads, fork, signals: no state. Ownership: facts point
 * into the bytes.
 */
#ifndef KEYGEN_ABOUT_H
#define KEYGEN_ABOUT_H

#include "keygen/digest.h"
#include "keygen/stream.h"

/* The section of an entry that holds it. */
#define ABOUT_SECTION 8
/* Of every compiler's results: its return code is the section's value. */
#define ABOUT_CODE_SECTION 1
/* The one that says that a result was kept by NVRTCCACHE_SLOPPINESS: it goes to no other node. */
#define ABOUT_SLOPPY_SECTION 7

enum about_kind {
	ABOUT_COMPILER = 2,   /* "nvrtc" */
	ABOUT_TITLE = 3,      /* "NVRTC" */
	ABOUT_RELEASE = 4,    /* "13.0" */
	ABOUT_PROGRAM = 5,    /* the name that the host gave it, or what stands for none */
	ABOUT_OPTION = 6,     /* in order */
	ABOUT_EXPRESSION = 7, /* in order */
	ABOUT_COMMAND = 8,    /* the program that had it compiled */
	ABOUT_BOUND = 9,      /* a directory without which it is not found */
	ABOUT_PART = 10,      /* `text` names a part of the request, `digest` tells it from another */
	ABOUT_STEP = 12,      /* where a compiler has several functions that work: which, "link", "verify" */
	ABOUT_ARTIFACT = 11,  /* `text` names it; it is in section `tag`, behind `skip` bytes */
	ABOUT_ROOT = 13,      /* the directory that dependencies are relative to (keygen/roots.h), in their order */
	ABOUT_BUILD = 14      /* "13.0.88": the release to the last digit, where the library's file name has it */
};

#define ABOUT_DIGEST_BYTES 8

struct about_fact {
	enum about_kind kind;
	const char *text; /* no NUL behind it */
	size_t size;
	const uint8_t *digest;
	uint32_t tag, skip;
};

void about_begin(struct stream *stream);
void about_text(struct stream *stream, enum about_kind kind, const char *text);
void about_sized(struct stream *stream, enum about_kind kind, const char *text, size_t size);
/* One part, of bytes or of several runs of them. */
void about_part(struct stream *stream, const char *name, const struct span *spans, size_t count);
/* A part that is one of its kind: "header" and its name. */
void about_part_of(struct stream *stream, const char *kind, const struct span *name, const struct span *content);
void about_artifact(struct stream *stream, const char *name, uint32_t tag, uint32_t skip);

/* `each` returns non-zero to end it, which is given back. Facts of later builds, of kinds unknown here, are passed over. */
int about_read(const void *bytes, size_t size, int (*each)(const struct about_fact *fact, void *context),
               void *context);

/* The bytes of as many of its first facts as fit into `most`; 0: of none. */
size_t about_cut(const void *bytes, size_t size, size_t most);

#endif
