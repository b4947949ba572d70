/* SPDX-License-Identifier: MIT */
#include "keygen/digest.h"

#include <blake2.h>
#include <xxhash.h>

/* libb2's calls fail only for a digest length outside 1..64. */
void digest_key(const struct span *spans, size_t count, struct key *ret_key)
{
	blake2b_state state;

	blake2b_init(&state, KEY_BYTES);
	for (size_t i = 0; i < count; i++) {
		if (spans[i].size)
			blake2b_update(&state, spans[i].bytes, spans[i].size);
	}
	blake2b_final(&state, ret_key->bytes, KEY_BYTES);
}

void digest_fingerprint(const struct span *spans, size_t count, struct fingerprint *ret_fingerprint)
{
	const struct span *only = NULL;
	size_t filled = 0;
	XXH128_hash_t hash;

	for (size_t i = 0; i < count; i++) {
		if (spans[i].size) {
			only = &spans[i];
			filled++;
		}
	}
	if (filled <= 1) {
		hash = XXH3_128bits(only ? only->bytes : "", only ? only->size : 0);
	} else {
		XXH3_state_t state;

		XXH3_128bits_reset(&state);
		for (size_t i = 0; i < count; i++) {
			if (spans[i].size)
				XXH3_128bits_update(&state, spans[i].bytes, spans[i].size);
		}
		hash = XXH3_128bits_digest(&state);
	}
	*ret_fingerprint = (struct fingerprint){.low = hash.low64, .high = hash.high64};
}
