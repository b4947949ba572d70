/* SPDX-License-Identifier: MIT */
#include "interpose/compile/handle.h"

#include "cache/guard.h"
#include "interpose/nvrtc/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS      16
#define TABLE_START ((size_t)64)

/*
 * Whoever looks a record up takes no lock: NVRTC's getters take none, so they may be called from a signal handler, be
 * cancelled or jumped out of, or run in a child of _Fork(), which runs no handlers of ours. Whoever changes something
 * holds the shard's lock.
 *
 * A place has a handle, and a record while the handle's program lives; a look-up ends at a place without a handle. It
 * finds each record whose coming is ordered before it, whatever is changed meanwhile:
 * - A record stays in its place, and no place between the one where its look-up begins and its own is without a handle
 *   as long as it is there (empty() takes handles only from the end of such a row). None of them has its handle: it was
 *   put where the first of them was vacant, and in one place only.
 * - Handles are compared in the table: a record that another thread frees meanwhile is not touched.
 * - A table that is full is copied, and stays readable: a look-up that still goes over the old one began before the new
 *   one was there, and so before what came after. What went meanwhile, nobody who asks for it may still have. Tables
 *   only double, so all that were before one are smaller than it.
 *
 * Each change is one store, before and after which the table is whole: a child that was forked meanwhile has all
 * records but the one that came or went, and a signal handler finds all.
 */
struct place {
	_Atomic(nvrtcProgram) handle;
	_Atomic(struct program *) program;
};

struct table {
	struct table *before; /* kept for who is still reading it */
	size_t size;          /* a power of two */
	size_t used;          /* places with a handle, counted before they have it */
	struct place places[];
};

struct shard {
	struct guard lock;
	_Atomic(struct table *) table; /* NULL until there is a record */
};

static struct shard shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = GUARD_INITIALIZER}};

static size_t hash(nvrtcProgram handle)
{
	return (size_t)(((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static struct shard *shard_of(nvrtcProgram handle)
{
	return &shards[hash(handle) % SHARDS];
}

static nvrtcProgram handle_in(const struct place *place)
{
	return atomic_load_explicit(&place->handle, memory_order_relaxed);
}

static struct program *program_in(const struct place *place)
{
	return atomic_load_explicit(&place->program, memory_order_acquire);
}

/* The place of the handle's record, or NULL, and then where one would go: NULL: nowhere. */
static struct place *place_of(struct table *table, nvrtcProgram handle, struct place **ret_vacant)
{
	size_t at = hash(handle) / SHARDS;

	*ret_vacant = NULL;
	for (size_t i = 0; table && i < table->size; i++, at++) {
		struct place *place = &table->places[at & (table->size - 1)];
		nvrtcProgram there = handle_in(place);
		bool vacant = !there || !program_in(place);

		if (there == handle && !vacant) {
			return place;
		}
		if (vacant && !*ret_vacant) {
			*ret_vacant = place;
		}
		if (!there) {
			break;
		}
	}
	return NULL;
}

static void fill(struct table *table, struct place *place, struct program *program)
{
	table->used += !handle_in(place);
	atomic_store_explicit(&place->handle, program->handle, memory_order_relaxed);
	atomic_store_explicit(&place->program, program, memory_order_release);
}

/* Takes the record out; where no look-up goes on from here, the handle, and those of vacant places in front of it. */
static void empty(struct table *table, struct place *place)
{
	size_t at = (size_t)(place - table->places);

	atomic_store_explicit(&place->program, NULL, memory_order_release);
	if (handle_in(&table->places[(at + 1) & (table->size - 1)])) {
		return;
	}
	while (handle_in(place) && !program_in(place)) {
		atomic_store_explicit(&place->handle, NULL, memory_order_release);
		table->used--;
		place = &table->places[--at & (table->size - 1)];
	}
}

/* Room for one more, with as many empty places as others. False: none at all. */
static bool grow(struct shard *shard)
{
	struct table *table = shard->table;
	size_t size = table ? table->size * 2 : TABLE_START;
	struct table *larger;
	struct place *vacant;

	if (table && table->used < table->size / 2) {
		return true;
	}
	larger = calloc(1, sizeof(*larger) + size * sizeof(larger->places[0]));
	if (!larger) {
		return table && table->used < table->size - 1;
	}
	larger->before = table;
	larger->size = size;
	for (size_t i = 0; table && i < table->size; i++) {
		struct program *program = handle_in(&table->places[i]) ? program_in(&table->places[i]) : NULL;

		if (program) {
			(void)place_of(larger, program->handle, &vacant);
			fill(larger, vacant, program);
		}
	}
	atomic_store_explicit(&shard->table, larger, memory_order_release);
	return true;
}

void program_free(struct program *program)
{
	if (!program) {
		return;
	}
	stream_free(&program->creation);
	stream_free(&program->paths);
	free(program->name);
	for (size_t i = 0; i < program->name_count; i++) {
		free(program->names[i]);
	}
	free(program->names);
	for (size_t i = 0; i < program->call_count; i++) {
		free(program->calls[i].options);
	}
	free(program->calls);
	free(program->keys);
	for (size_t i = 0; i < program->held_count; i++) {
		entry_unref(program->held[i]);
	}
	free(program->held);
	free(program);
}

/* Puts the record in, in the place of one of the same handle: that was destroyed behind our back, and given out again.
 */
static bool put_in(struct program *program)
{
	struct shard *shard = shard_of(program->handle);
	struct program *stale = NULL;
	struct place *place, *vacant;
	bool added = true;

	guard_lock(&shard->lock);
	place = place_of(shard->table, program->handle, &vacant);
	if (place) {
		stale = program_in(place);
		fill(shard->table, place, program);
	} else if (grow(shard)) {
		(void)place_of(shard->table, program->handle, &vacant);
		fill(shard->table, vacant, program);
	} else {
		added = false;
	}
	guard_unlock(&shard->lock);
	program_free(stale);
	return added;
}

struct program *program_add(nvrtcProgram handle, struct library *library, enum reach reach)
{
	struct program *program = calloc(1, sizeof(*program));

	if (!program) {
		program_free(program_take(handle));
		return NULL;
	}
	program->handle = handle;
	program->library = library;
	program->reach = reach;
	program->keyed = true;
	program->findings = SCAN_PATH | SCAN_PLACE;
	if (!put_in(program)) {
		free(program);
		return NULL;
	}
	return program;
}

void program_put_back(struct program *program)
{
	if (!put_in(program)) {
		program_free(program);
	}
}

struct program *program_find(nvrtcProgram handle)
{
	struct table *table = atomic_load_explicit(&shard_of(handle)->table, memory_order_acquire);
	struct place *vacant;
	const struct place *place = place_of(table, handle, &vacant);

	return place ? program_in(place) : NULL;
}

struct program *program_take(nvrtcProgram handle)
{
	struct shard *shard = shard_of(handle);
	struct program *program = NULL;
	struct place *place, *vacant;

	guard_lock(&shard->lock);
	place = place_of(shard->table, handle, &vacant);
	if (place) {
		program = program_in(place);
		empty(shard->table, place);
	}
	guard_unlock(&shard->lock);
	return program;
}

int program_add_name(struct program *program, const char *expression)
{
	char **names = realloc(program->names, (program->name_count + 1) * sizeof(char *));
	char *copy = strdup(expression);

	if (names) {
		program->names = names;
	}
	if (!names || !copy) {
		free(copy);
		return -ENOMEM;
	}
	program->names[program->name_count++] = copy;
	return 0;
}

static char **copy_options(int count, const char *const *options)
{
	size_t size = ((size_t)count + 1) * sizeof(char *);
	char **copy;
	char *text;

	for (int i = 0; i < count; i++) {
		size += strlen(options[i]) + 1;
	}
	copy = malloc(size);
	if (!copy) {
		return NULL;
	}
	text = (char *)(copy + count + 1);
	for (int i = 0; i < count; i++) {
		copy[i] = text;
		text = stpcpy(text, options[i]) + 1;
	}
	copy[count] = NULL;
	return copy;
}

int program_add_call(struct program *program, int option_count, const char *const *options, const struct key *key,
                     uint64_t asked, bool done)
{
	size_t count = program->call_count + 1;
	struct compile_call *calls = realloc(program->calls, count * sizeof(*calls));
	struct key *keys = realloc(program->keys, count * sizeof(*keys));
	char **copy = copy_options(option_count, options);

	program->calls = calls ? calls : program->calls;
	program->keys = keys ? keys : program->keys;
	if (!calls || !keys || !copy) {
		free(copy);
		return -ENOMEM;
	}
	calls[count - 1] = (struct compile_call){copy, option_count, asked, done, false};
	keys[count - 1] = *key;
	program->call_count = count;
	return 0;
}

int program_serve(struct program *program, struct entry *entry)
{
	struct entry **held = realloc(program->held, (program->held_count + 1) * sizeof(struct entry *));

	if (!held) {
		return -ENOMEM;
	}
	program->held = held;
	held[program->held_count++] = entry_ref(entry);
	program->served = entry;
	return 0;
}

void program_fork_child(void)
{
	for (int i = 0; i < SHARDS; i++) {
		(void)guard_fork_child(&shards[i].lock);
	}
}
