/* SPDX-License-Identifier: MIT */
/*
 * content: writes content of any size as a field of a request
 *
 * Purpose: the inputs that a host passes are small (its own code) or large and the same each time (libdevice, a
 * library). A small input goes into the request whole, a large one as the BLAKE2b-256 digest of its size and bytes.
 * Digesting libdevice takes 0.6 ms, so the process remembers the digest under the fingerprint of the bytes (digest.h).
 * Computing a fingerprint takes a tenth of that time, and other processes cannot predict its value.
 *
 * Calling sequence: content_put() at any time. At most CONTENT_REMEMBERED digests are remembered; later ones replace
 * earlier ones.
 *
 * Errors: those of the stream. Threads: any. Fork: a slot that a thread of the parent was using stays unusable in
 * the child. Signals: not from handlers.
 */
#ifndef KEYGEN_CONTENT_H
#define KEYGEN_CONTENT_H

#include "keygen/digest.h"
#include "keygen/stream.h"

#define CONTENT_WHOLE_MAX  ((size_t)64 << 10)
#define CONTENT_REMEMBERED 256

/* What content_put() wrote: the bytes, or their digest, computed now or remembered. */
enum content_form { CONTENT_WHOLE, CONTENT_DIGESTED, CONTENT_RECALLED };

/* The tags of the two forms, which must differ. */
struct content_tags {
	uint8_t whole, digest;
};

/*
 * Computes the digest of the concatenated spans, or recalls it. The caller must add the sizes to the spans, because the
 * digest does not show where one span ends. `secret`: the secret of this process's fingerprints, or NULL to remember
 * nothing.
 */
enum content_form content_digest(const struct secret *secret, const struct span *spans, size_t count,
                                 struct key *ret_digest);
/* Writes one field: the bytes if there are at most CONTENT_WHOLE_MAX, else their digest. */
enum content_form content_put(struct stream *stream, struct content_tags tags, const struct secret *secret,
                              const void *bytes, size_t size);

#endif
