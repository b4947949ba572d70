/* SPDX-License-Identifier: MIT */
#include "keygen/digest.h"

#include <blake2.h>
#include <stdbool.h>
#include <xxhash.h>

/*
 * libb2 picks its code at the first call by CPUID, which traps in a virtual machine and took 33 us of a 100 us hit. A
 * key is made of little text, so its portable code, which every build of libb2 has, will do; a libb2 that hides the
 * name is used in the ordinary way. The digest is the same.
 */
__attribute__((weak)) int blake2b_init_ref(blake2b_state *state, size_t size);
__attribute__((weak)) int blake2b_update_ref(blake2b_state *state, const uint8_t *bytes, size_t size);
__attribute__((weak)) int blake2b_final_ref(blake2b_state *state, uint8_t *digest, size_t size);

/* libb2's calls fail only for a digest length outside 1..64. */
void digest_key(const struct span *spans, size_t count, struct key *ret_key)
{
	bool portable = blake2b_init_ref && blake2b_update_ref && blake2b_final_ref;
	blake2b_state state;

	(void)(portable ? blake2b_init_ref(&state, KEY_BYTES) : blake2b_init(&state, KEY_BYTES));
	for (size_t i = 0; i < count; i++) {
		if (spans[i].size == 0)
			continue;
		if (portable)
			blake2b_update_ref(&state, spans[i].bytes, spans[i].size);
		else
			blake2b_update(&state, spans[i].bytes, spans[i].size);
	}
	(void)(portable ? blake2b_final_ref(&state, ret_key->bytes, KEY_BYTES)
	                : blake2b_final(&state, ret_key->bytes, KEY_BYTES));
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
