/* SPDX-License-Identifier: MIT */
/*
 * lent: large headers in memory, which stay with the host
 *
 * Purpose: a hit needs their digest alone. What their texts say beyond it (scan.h) is asked where a result is to be
 * kept, and only then are they copied: from where the host had them when it created the program. Most hosts still have
 * them there. A host that has freed or changed them is found out by the digest, or by the kernel, through which they
 * are read: no read of ours faults.
 *
 * Calling sequence: lent_take() when the program is created, lent_copy() after a real compile, lent_free().
 * Errors: -ENOMEM; lent_copy(): -ESTALE where the host's memory does not hold them any more, or cannot be read.
 * Threads: a lent belongs to one program. Fork: a child has the host's memory too. Ownership: names are not kept.
 */
#ifndef INTERPOSE_NVRTC_LENT_H
#define INTERPOSE_NVRTC_LENT_H

#include "interpose/nvrtc/request.h"

struct lent {
	struct key digest;           /* request_digest_headers() */
	const struct secret *secret; /* for that; of the process, or NULL */
	size_t count;
	struct request_header headers[]; /* without names */
};

/* `secret` outlives the lent. */
int lent_take(const struct request_header *headers, size_t count, const struct secret *secret, struct lent **ret_lent);
/* All texts one behind the other, each with newlines behind it, which is the caller's to free(). */
int lent_copy(const struct lent *lent, char **ret_texts, size_t *ret_size);
void lent_free(struct lent *lent);

#endif
