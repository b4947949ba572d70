/* SPDX-License-Identifier: MIT */
/*
 * The headers are read through the kernel, after the real compilation, and digested again, because only bytes that have
 * the digest of the creation run may be scanned.
 */
#include "interpose/nvrtc/lent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int lent_take(const struct request_header *headers, size_t count, const struct secret *secret, struct lent **ret_lent)
{
	struct lent *lent = calloc(1, sizeof(*lent) + count * sizeof(lent->headers[0]));
	int error = lent ? request_digest_headers(headers, count, secret, &lent->digest) : -ENOMEM;

	if (error != 0) {
		free(lent);
		return error;
	}
	lent->count = count;
	lent->secret = secret;
	for (size_t i = 0; i < count; i++) {
		lent->headers[i] = (struct request_header){.text = headers[i].text, .size = headers[i].size};
	}
	*ret_lent = lent;
	return 0;
}

/*
 * Reads through /proc/self/mem: the kernel returns EIO for unmapped memory, where a load instruction would crash the
 * host.
 */
static bool read_own_memory(int memory, char *to, const char *from, size_t size)
{
	while (size > 0) {
		ssize_t got = pread(memory, to, size, (off_t)(uintptr_t)from);

		if (got <= 0) {
			if (got < 0 && errno == EINTR) {
				continue;
			}
			return false;
		}
		to += got;
		from += got;
		size -= (size_t)got;
	}
	return true;
}

static int copy_all(const struct lent *lent, int memory, char *texts)
{
	struct request_header *copies = calloc(lent->count + 1, sizeof(*copies));
	int error = copies ? 0 : -ENOMEM;
	struct key digest;
	char *at = texts;

	for (size_t i = 0; error == 0 && i < lent->count; i++) {
		copies[i] = (struct request_header){.text = at, .size = lent->headers[i].size};
		if (!read_own_memory(memory, at, lent->headers[i].text, lent->headers[i].size)) {
			error = -ESTALE;
		}
		at += lent->headers[i].size;
		/* a text may end in a line splice, which removes one newline */
		*at++ = '\n';
		*at++ = '\n';
	}
	if (error == 0) {
		error = request_digest_headers(copies, lent->count, lent->secret, &digest);
	}
	if (error == 0 && memcmp(digest.bytes, lent->digest.bytes, sizeof(digest.bytes)) != 0) {
		error = -ESTALE;
	}
	free(copies);
	return error;
}

int lent_copy(const struct lent *lent, char **ret_texts, size_t *ret_size)
{
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	char *texts;
	int error;

	if (memory < 0) {
		return -ESTALE;
	}
	for (size_t i = 0; i < lent->count; i++) {
		size += lent->headers[i].size + 2;
	}
	texts = malloc(size + 1);
	error = texts ? copy_all(lent, memory, texts) : -ENOMEM;
	(void)close(memory);
	if (error != 0) {
		free(texts);
		return error;
	}
	*ret_texts = texts;
	*ret_size = size;
	return 0;
}

void lent_free(struct lent *lent)
{
	free(lent);
}
