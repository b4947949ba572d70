/* SPDX-License-Identifier: MIT */
/*
 * bundle_value: a bundle of results (cache/bundle.h) as one value of an engine (docs/DESIGN.md G6)
 *
 * An envelope that says that it is a bundle, under a key that is made of the bundle's name, so that it lies where values
 * lie. It is packed and unpacked piece by piece: in memory is what is packed, at most ENGINE_VALUE_MAX, and never the
 * whole of what it unpacks to, at most ENVELOPE_BUNDLE_MAX.
 *
 * Calling sequence: bundle_value_make(), then free() of the value; or bundle_value_open(), bundle_value_get() until it gives
 * 0, bundle_value_close(). Errors: negative errno values; bundle_value_make(): -EBADMSG: no bundle, or not as it was
 * written; -EPROTONOSUPPORT: of another format; -EFBIG: too large. bundle_value_get(): -EBADMSG: it does not unpack to what
 * it says. Threads: one. Ownership: the value must outlive who reads it.
 */
#ifndef AGENT_BUNDLE_VALUE_H
#define AGENT_BUNDLE_VALUE_H

#include "agent/envelope.h"

#include <stdbool.h>
#include <sys/types.h>

#define BUNDLE_NAME_MAX 128

/* Letters, digits and "._-+@:/", and no more than that of them. */
bool bundle_value_name(const char *name);
void bundle_value_key(const char *name, uint8_t ret_key[ENTRY_KEY_BYTES]);

struct bundle_made {
	void *value;
	size_t size;
	uint64_t results;
	uint64_t raw_size;
};

/* Of all that a descriptor gives: it is read as a bundle on its way, and nothing that is none is made a value of. */
int bundle_value_make(int file, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
                      struct bundle_made *ret_made);

struct bundle_value;

enum envelope_found bundle_value_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                                      const struct keyring *keyring, enum envelope_trust trust,
                                      struct bundle_value **ret_bundle);
/* A bundle_get of cache/bundle.h; `context` is a bundle_value. */
ssize_t bundle_value_get(void *context, void *bytes, size_t size);
void bundle_value_close(struct bundle_value *bundle); /* NULL is fine */

#endif
