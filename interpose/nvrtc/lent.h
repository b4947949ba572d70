/* SPDX-License-Identifier: MIT */
/*
 * lent: large in-memory headers, of which this library has no copy
 *
 * Purpose: a hit needs only the digest of the headers. Their texts are needed (scan.h) only if a result is to be
 * cached; then they are read, one by one, from the addresses that the host passed when it created the program. Most
 * hosts still have the texts there. If a host freed or changed them, the digest differs or the read fails: it is a
 * system call, so it cannot crash the host.
 *
 * Calling sequence: lent_take() when the program is created, lent_read() after a real compilation, free(). Errors:
 * -ENOMEM; lent_read(): -ESTALE if the host's memory no longer holds the texts or cannot be read. Threads: a struct
 * lent belongs to one program. Fork: a child has a copy of the host's memory too. Ownership: names are not stored.
 */
#ifndef INTERPOSE_NVRTC_LENT_H
#define INTERPOSE_NVRTC_LENT_H

#include "keygen/digest.h"

#include <stdbool.h>

struct memory_header {
	const char *name;
	const char *text;
	size_t size; /* of the text, without its NUL */
};

/*
 * Limit for the total size of in-memory headers: larger ones are not copied, and the creation run has one digest of
 * them.
 */
#define HEADERS_WHOLE_MAX ((size_t)4 << 20)

/* Returns true if the headers are so large that the creation run has only their digest. */
bool lent_digests_headers(const struct memory_header *headers, size_t count);
/* Computes the digest of the headers' sizes and texts, in order. `secret`: as in content_digest(). */
int lent_digest_headers(const struct memory_header *headers, size_t count, const struct secret *secret,
                        struct key *ret_digest);

struct lent {
	struct key digest; /* lent_digest_headers() */
	size_t count;
	struct memory_header headers[]; /* without names */
};

/* Digests the headers, and stores their addresses and sizes. `secret`: as in content_digest(). */
int lent_take(const struct memory_header *headers, size_t count, const struct secret *secret, struct lent **ret_lent);
typedef void lent_text(void *context, const char *text, size_t size);
/* Calls `text` for each header in order. If an error is returned, what it was given does not count. */
int lent_read(const struct lent *lent, lent_text *text, void *context);

#endif
