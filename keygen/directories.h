/* SPDX-License-Identifier: MIT */
/*
 * directories: those that a request names, and the roots that they lie in (docs/DESIGN.md B6)
 *
 * Roots are the outermost directories, numbered by their first use: with /v/include and /v/include/cccl there is one
 * root, and the second directory is "root 0" and the rest "/cccl". So no root lies inside another, and a path is in at
 * most one.
 *
 * Calling sequence: directories_add() for each in the request's order, directories_number(), directories_put() where
 * one stands in the request; the roots go to whoever wants them, or directories_free(). Errors: directories_add() is
 * false where there are too many; directories_number() gives -ENOMEM. Whoever adds one has seen that paths in it can be
 * spelled in one way only (directories_plain(), and that none of its bytes has another spelling in a text): else nothing
 * of the request may move.
 * Ownership: texts given must outlive the directories; the roots' are copies.
 */
#ifndef KEYGEN_DIRECTORIES_H
#define KEYGEN_DIRECTORIES_H

#include "keygen/roots.h"
#include "keygen/stream.h"

#include <stdbool.h>

/* Finding out which directory lies in which is quadratic; requests with more directories are bound instead. */
#define DIRECTORIES_MAX 128

/* A directory as it was spelled, and which root it lies in: `root` bytes of it are that root's text. */
struct request_directory {
	const char *text;
	size_t size; /* without one trailing slash */
	size_t root;
};

/* What directories_put() writes. */
enum directory_tag { REQUEST_TAG_ROOT = 28, REQUEST_TAG_REST = 29 };

struct directories {
	size_t count;
	struct request_directory list[DIRECTORIES_MAX];
	struct roots roots;
};

bool directories_add(struct directories *directories, const char *text, size_t size);
int directories_number(struct directories *directories);
void directories_put(struct stream *stream, const struct directories *directories, size_t index);
void directories_free(struct directories *directories);

/* Is every component a name: none empty, "." or ".."? Such a directory's text and "/" start every path in it. */
bool directories_plain(const char *path, size_t size);

#endif
