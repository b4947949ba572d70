/* SPDX-License-Identifier: MIT */
#include "agent/node/service.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 1024

void settled_begin(struct settled *settled)
{
	*settled = (struct settled){.places = NULL};
	pthread_mutex_init(&settled->lock, NULL);
}

void settled_free(struct settled *settled)
{
	free(settled->places);
	pthread_mutex_destroy(&settled->lock);
}

/* Where the key is, or would be. Never called without room. */
static struct settled_place *place_of(struct settled_place *places, size_t room, const uint8_t *key)
{
	uint64_t at; /* keys are digests: any of their bits will do */

	memcpy(&at, key, sizeof(at));
	while (places[at & (room - 1)].taken && memcmp(places[at & (room - 1)].key, key, SETTLED_KEY_BYTES) != 0) {
		at++;
	}
	return &places[at & (room - 1)];
}

static void forget_all(struct settled *settled)
{
	free(settled->places);
	settled->places = NULL;
	settled->room = 0;
	settled->count = 0;
}

static bool grow_table(struct settled *settled)
{
	size_t room = settled->room != 0 ? 2 * settled->room : FIRST_ROOM;
	struct settled_place *places = calloc(room, sizeof(*places));

	if (places == NULL) {
		return false;
	}
	for (size_t i = 0; i < settled->room; i++) {
		if (settled->places[i].taken) {
			*place_of(places, room, settled->places[i].key) = settled->places[i];
		}
	}
	free(settled->places);
	settled->places = places;
	settled->room = room;
	return true;
}

void settled_note(struct settled *settled, const uint8_t key[ENTRY_KEY_BYTES], uint64_t sum, int64_t written_ns)
{
	pthread_mutex_lock(&settled->lock);
	if (settled->count == SETTLED_MOST) {
		forget_all(settled);
	}
	if (2 * settled->count < settled->room || grow_table(settled)) {
		struct settled_place *place = place_of(settled->places, settled->room, key);

		settled->count += !place->taken;
		*place = (struct settled_place){.sum = sum, .written_ns = written_ns, .taken = true};
		memcpy(place->key, key, SETTLED_KEY_BYTES);
	}
	pthread_mutex_unlock(&settled->lock);
}

static bool look_up(struct settled *settled, const uint8_t *key, struct settled_place *ret_place)
{
	bool found = false;

	pthread_mutex_lock(&settled->lock);
	if (settled->room != 0) {
		const struct settled_place *place = place_of(settled->places, settled->room, key);

		found = place->taken;
		*ret_place = *place;
	}
	pthread_mutex_unlock(&settled->lock);
	return found;
}

bool settled_holds(struct settled *settled, const uint8_t key[ENTRY_KEY_BYTES], uint64_t sum)
{
	struct settled_place place;

	return look_up(settled, key, &place) && place.sum == sum;
}

bool settled_seen(struct settled *settled, const uint8_t key[ENTRY_KEY_BYTES], int64_t written_ns)
{
	struct settled_place place;

	return look_up(settled, key, &place) && place.written_ns == written_ns;
}
