/* SPDX-License-Identifier: MIT */
/*
 * lent: large in-memory headers, of which this library has no copy
 *
 * Purpose: a hit needs only the digest of the headers. Their texts are needed (scan.h) only if a result is to be
 * cached; then they are copied from the addresses that the host passed when it created the program. Most hosts still
 * have the texts there. If a host freed or changed them, the digest differs or the read fails: it is a system call, so
 * it cannot crash the host.
 *
 * Calling sequence: lent_take() when the program is created, lent_copy() after a real compilation, lent_free(). Errors:
 * -ENOMEM; lent_copy(): -ESTALE if the host's memory no longer holds the texts or cannot be read. Threads: a struct
 * lent belongs to one program. Fork: a child has a copy of the host's memory too. Ownership: names are not stored.
 */
#ifndef INTERPOSE_NVRTC_LENT_H
#define INTERPOSE_NVRTC_LENT_H

#include "interpose/nvrtc/request.h"

struct lent {
	struct key digest;           /* request_digest_headers() */
	const struct secret *secret; /* the secret for the digest; may be NULL */
	size_t count;
	struct request_header headers[]; /* without names */
};

/* Digests the headers, and stores their addresses and sizes. `secret` must outlive the struct lent. */
int lent_take(const struct request_header *headers, size_t count, const struct secret *secret, struct lent **ret_lent);
/* Copies all texts, concatenated, each followed by newlines, into a block that the caller must free(). */
int lent_copy(const struct lent *lent, char **ret_texts, size_t *ret_size);
void lent_free(struct lent *lent);

#endif
