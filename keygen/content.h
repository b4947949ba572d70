/* SPDX-License-Identifier: MIT */
/*
 * content: bytes of any size as a field of a request
 *
 * Purpose: what a host gives piece by piece is small (its own code) or large and the same each time (libdevice, a
 * library). The small goes into the request whole, the large by its digest, BLAKE2b-256 of its size and its bytes. That
 * takes 0.6 ms of libdevice: so the process remembers it under the fingerprint of the bytes (digest.h), which takes a
 * tenth and which nobody can foresee.
 *
 * Calling sequence: content_put() anywhere. Bounded: CONTENT_REMEMBERED digests, of which later ones take the places of
 * earlier ones; memory that a process without large contents never touches.
 *
 * Errors: those of the stream. Threads: any; a place that another thread is at counts as empty, nobody waits. Fork: a
 * place that a thread of the parent was at stays empty in the child. Signals: not from handlers.
 */
#ifndef KEYGEN_CONTENT_H
#define KEYGEN_CONTENT_H

#include "keygen/digest.h"
#include "keygen/stream.h"

#define CONTENT_WHOLE_MAX  ((size_t)64 << 10)
#define CONTENT_REMEMBERED 256

/* What has been written: the bytes themselves, or their digest, and where that is from. */
enum content_form { CONTENT_WHOLE, CONTENT_DIGESTED, CONTENT_RECALLED };

/* Tags of the two forms: they must differ. */
struct content_tags {
	uint8_t whole, digest;
};

/*
 * The digest of all the spans, one behind the other: where one ends must be said by another. `secret`: of this process's
 * fingerprints; NULL: nothing is remembered.
 */
enum content_form content_digest(const struct secret *secret, const struct span *spans, size_t count,
                                 struct key *ret_digest);
enum content_form content_put(struct stream *stream, struct content_tags tags, const struct secret *secret,
                              const void *bytes, size_t size);

#endif
