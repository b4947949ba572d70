/* SPDX-License-Identifier: MIT */
#include "interpose/program.h"

#include "cache/guard.h"
#include "keygen/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS      16
#define TABLE_START ((size_t)64)

/*
 * Each change is one store, before and after which the table is whole: a child that was forked meanwhile has all
 * records but the one that came or went. A place holds a record, nothing (a look-up ends there), or `gone`.
 */
struct table {
	size_t size; /* a power of two */
	size_t used; /* places that are not empty, counted before they are filled */
	_Atomic(struct program *) places[];
};

struct shard {
	struct guard lock;
	_Atomic(struct table *) table; /* NULL until there is a record */
};

static struct shard shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = GUARD_INITIALIZER}};
static struct program gone;

static size_t hash(nvrtcProgram handle)
{
	return (size_t)(((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static struct shard *shard_of(nvrtcProgram handle)
{
	return &shards[hash(handle) % SHARDS];
}

static struct program *in(const struct table *table, size_t place)
{
	return atomic_load_explicit(&table->places[place], memory_order_relaxed);
}

/* The place of the handle's record, or where one would go; SIZE_MAX: nowhere. */
static size_t place_of(const struct table *table, nvrtcProgram handle, bool *ret_found)
{
	size_t place = hash(handle) / SHARDS;
	size_t vacant = SIZE_MAX;

	*ret_found = false;
	for (size_t i = 0; table && i < table->size; i++, place++) {
		const struct program *program = in(table, place &= table->size - 1);

		if (program && program != &gone && program->handle == handle) {
			*ret_found = true;
			return place;
		}
		if ((!program || program == &gone) && vacant == SIZE_MAX) {
			vacant = place;
		}
		if (!program) {
			break;
		}
	}
	return vacant;
}

static void fill(struct table *table, size_t place, struct program *program)
{
	table->used += !in(table, place);
	atomic_store_explicit(&table->places[place], program, memory_order_release);
}

/* Room for one more, with as many empty places as others. False: none at all. */
static bool grow(struct shard *shard)
{
	struct table *table = shard->table;
	size_t size = TABLE_START;
	size_t count = 1;
	struct table *larger;
	bool found;

	if (table && table->used < table->size / 2) {
		return true;
	}
	for (size_t i = 0; table && i < table->size; i++) {
		count += in(table, i) && in(table, i) != &gone;
	}
	while (size < count * 4) {
		size *= 2;
	}
	larger = calloc(1, sizeof(*larger) + size * sizeof(larger->places[0]));
	if (!larger) {
		return table && table->used < table->size - 1;
	}
	larger->size = size;
	for (size_t i = 0; table && i < table->size; i++) {
		struct program *program = in(table, i);

		if (program && program != &gone) {
			fill(larger, place_of(larger, program->handle, &found), program);
		}
	}
	atomic_store_explicit(&shard->table, larger, memory_order_release);
	free(table);
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
	bool added = true;
	size_t place;
	bool found;

	guard_lock(&shard->lock);
	place = place_of(shard->table, program->handle, &found);
	if (found) {
		stale = in(shard->table, place);
		fill(shard->table, place, program);
	} else if (grow(shard)) {
		fill(shard->table, place_of(shard->table, program->handle, &found), program);
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

static struct program *look_up(nvrtcProgram handle, bool take)
{
	struct shard *shard = shard_of(handle);
	struct program *program = NULL;
	size_t place;
	bool found;

	guard_lock(&shard->lock);
	place = place_of(shard->table, handle, &found);
	if (found) {
		program = in(shard->table, place);
	}
	if (found && take) {
		fill(shard->table, place, &gone);
	}
	guard_unlock(&shard->lock);
	return program;
}

struct program *program_find(nvrtcProgram handle)
{
	return look_up(handle, false);
}

struct program *program_take(nvrtcProgram handle)
{
	return look_up(handle, true);
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
