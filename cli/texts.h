/* SPDX-License-Identifier: MIT */
/*
 * texts: each text once, with a number in the order in which they first came
 *
 * Calling sequence: zeroed, texts_number() any number of times, texts_free(). Errors: -ENOMEM. Threads: one.
 * Ownership: the texts are copied.
 */
#ifndef CLI_TEXTS_H
#define CLI_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct texts {
	struct text {
		char *at;
		size_t size;
		uint64_t hash;
	} *list;
	size_t count, capacity;
	uint32_t *slots; /* numbers, from 1; 0: free */
	size_t slot_count;
};

int texts_number(struct texts *texts, const char *at, size_t size, uint32_t *ret_number);
void texts_free(struct texts *texts);

#endif
