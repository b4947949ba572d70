/* SPDX-License-Identifier: MIT */
#include "cli/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FIRST_SLOTS 1024

/* The slot that has it, or the free one where it belongs: a third of them are free at least. */
static uint32_t *find(const struct texts *texts, uint64_t hash, const char *at, size_t size)
{
	for (size_t i = hash & (texts->slot_count - 1);; i = (i + 1) & (texts->slot_count - 1)) {
		uint32_t *slot = &texts->slots[i];
		const struct text *text = *slot != 0 ? &texts->list[*slot - 1] : NULL;

		if (text == NULL || (text->hash == hash && text->size == size && memcmp(text->at, at, size) == 0)) {
			return slot;
		}
	}
}

static int grow(struct texts *texts)
{
	size_t count = texts->slot_count != 0 ? 2 * texts->slot_count : FIRST_SLOTS;
	uint32_t *slots = calloc(count, sizeof(*slots));
	struct text *list = realloc(texts->list, (count * 2 / 3) * sizeof(*list));

	if (list != NULL) {
		texts->list = list;
		texts->capacity = count * 2 / 3;
	}
	if (slots == NULL || list == NULL || count > UINT32_MAX) {
		free(slots);
		return -ENOMEM;
	}
	free(texts->slots);
	texts->slots = slots;
	texts->slot_count = count;
	for (size_t i = 0; i < texts->count; i++) {
		*find(texts, list[i].hash, list[i].at, list[i].size) = (uint32_t)i + 1;
	}
	return 0;
}

int texts_number(struct texts *texts, const char *at, size_t size, uint32_t *ret_number)
{
	uint64_t hash = XXH3_64bits(at, size);
	uint32_t *slot;
	char *copy;

	if (texts->count == texts->capacity && grow(texts) != 0) {
		return -ENOMEM;
	}
	slot = find(texts, hash, at, size);
	if (*slot == 0) {
		copy = malloc(size + 1);
		if (copy == NULL) {
			return -ENOMEM;
		}
		memcpy(copy, at, size);
		copy[size] = '\0';
		texts->list[texts->count++] = (struct text){copy, size, hash};
		*slot = (uint32_t)texts->count;
	}
	*ret_number = *slot - 1;
	return 0;
}

void texts_free(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		free(texts->list[i].at);
	}
	free(texts->list);
	free(texts->slots);
	*texts = (struct texts){0};
}
