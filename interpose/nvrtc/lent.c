/* SPDX-License-Identifier: MIT */
/*
 * The texts are digested again when they are read, because what was found in them counts only if they have the digest
 * of the creation run.
 */
#include "interpose/nvrtc/lent.h"

#include "interpose/compile/host_data.h"
#include "keygen/stream.h"

#include <blake2.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lent_digest_headers(const struct memory_header *headers, size_t count, const struct secret *secret,
                        struct key *ret_digest)
{
	struct span *spans = calloc(2 * count + 1, sizeof(*spans));

	if (!spans) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		spans[2 * i] = (struct span){&headers[i].size, sizeof(headers[i].size)};
		spans[2 * i + 1] = (struct span){headers[i].text, headers[i].size};
	}
	(void)content_digest(secret, spans, 2 * count, ret_digest);
	free(spans);
	return 0;
}

bool lent_digests_headers(const struct memory_header *headers, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		size += headers[i].size;
	}
	return size > HEADERS_WHOLE_MAX;
}

int lent_take(const struct memory_header *headers, size_t count, const struct secret *secret, struct lent **ret_lent)
{
	struct lent *lent = calloc(1, sizeof(*lent) + count * sizeof(lent->headers[0]));
	int error = lent ? lent_digest_headers(headers, count, secret, &lent->digest) : -ENOMEM;

	if (error != 0) {
		free(lent);
		return error;
	}
	lent->count = count;
	for (size_t i = 0; i < count; i++) {
		lent->headers[i] = (struct memory_header){.text = headers[i].text, .size = headers[i].size};
	}
	*ret_lent = lent;
	return 0;
}

int lent_read(const struct lent *lent, lent_text *text, void *context)
{
	struct key digest;
	blake2b_state state;
	int error = blake2b_init(&state, KEY_BYTES) == 0 ? 0 : -EINVAL;

	for (size_t i = 0; error == 0 && i < lent->count; i++) {
		const size_t size = lent->headers[i].size;
		char *copy = malloc(size + 1);

		error = !copy ? -ENOMEM : host_data_memory(copy, lent->headers[i].text, size) == size ? 0 : -ESTALE;
		if (error == 0) {
			blake2b_update(&state, (const uint8_t *)&size, sizeof(size));
			blake2b_update(&state, (const uint8_t *)copy, size);
			text(context, copy, size);
		}
		free(copy);
	}
	if (error == 0) {
		blake2b_final(&state, digest.bytes, KEY_BYTES);
		error = memcmp(digest.bytes, lent->digest.bytes, sizeof(digest.bytes)) == 0 ? 0 : -ESTALE;
	}
	return error;
}
