/* SPDX-License-Identifier: MIT */
/*
 * cache_storm: threads that use the memory front, a small store, compile locks and counters at random, for valgrind
 *
 * usage: cache_storm DIRECTORY THREADS ROUNDS
 *
 * Linked with the objects of cache/ alone. Prints "wrong N": how often something other than what was put was found.
 */
#include "cache/compile_lock.h"
#include "cache/counters.h"
#include "cache/memory.h"
#include "cache/store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 24, THREADS_MAX = 16, BYTES_MAX = 3000 };

static const char *directory;
static struct memory *memory;
static struct store *store;
static int rounds;

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void key_of(uint32_t number, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	memset(ret_key, (int)(number * 37), ENTRY_KEY_BYTES);
	ret_key[0] = (uint8_t)number;
}

static struct entry *make(uint32_t number)
{
	uint8_t key[ENTRY_KEY_BYTES];
	char bytes[BYTES_MAX];
	const struct section section = {.tag = 1, .bytes = bytes, .size = 500 + number * 100};
	struct entry *entry = NULL;

	memset(bytes, (int)number, sizeof(bytes));
	key_of(number, key);
	return entry_build(key, 1, NULL, 0, &section, 1, &entry) == 0 ? entry : NULL;
}

static bool is_right(const struct entry *entry, uint32_t number)
{
	struct section section;
	const char *bytes;

	if (!entry_section(entry, 1, &section) || section.size != 500 + number * 100) {
		return false;
	}
	bytes = section.bytes;
	return bytes[0] == (char)number && bytes[section.size - 1] == (char)number;
}

static uintptr_t step(uint32_t number)
{
	const struct compile_lock_options options = {.directory = directory, .wait_seconds = 100};
	uint8_t key[ENTRY_KEY_BYTES];
	struct compile_lock lock = {0};
	struct entry *entry;
	bool right;

	key_of(number, key);
	do {
		entry = memory_get(memory, number, number, NULL, NULL);
		if (!entry && store_get(store, key, NULL, NULL, &entry) != 0) {
			entry = NULL;
		}
	} while (!entry && compile_lock_acquire(&lock, &options, key));
	counters_add(entry ? COUNTER_TOTAL_hits_disk : COUNTER_TOTAL_misses, 1);
	if (!entry) {
		entry = make(number);
		(void)store_put(store, entry);
	}
	memory_put(memory, number, number, entry);
	compile_lock_release(&lock, number % 8 == 0 ? COMPILE_LOCK_NOT_KEPT : COMPILE_LOCK_KEPT);
	right = is_right(entry, number);
	entry_unref(entry);
	return !right;
}

static void *run(void *seed)
{
	uint32_t state = 2463534242u + 7919u * (uint32_t)(uintptr_t)seed;
	uintptr_t wrong = 0;

	for (int i = 0; i < rounds; i++) {
		wrong += step(next(&state) % KEYS);
	}
	return (void *)wrong;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	int count = argc > 3 ? atoi(argv[2]) : 0;
	uintptr_t wrong = 0;

	if (count < 1 || count > THREADS_MAX) {
		return 2;
	}
	directory = argv[1];
	rounds = atoi(argv[3]);
	const struct store_options options = {.directory = directory, .max_size = 30000};
	if (memory_open(10000, NULL, &memory) != 0 || store_open(&options, &store) != 0) {
		return 3;
	}
	for (int i = 0; i < count; i++) {
		pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i);
	}
	for (int i = 0; i < count; i++) {
		void *result = NULL;

		pthread_join(threads[i], &result);
		wrong += (uintptr_t)result;
	}
	(void)counters_flush(directory, COUNTERS_WRITABLE, COUNTERS_NOW);
	printf("wrong %d\n", (int)wrong);
	store_close(store);
	memory_close(memory);
	return wrong != 0;
}
