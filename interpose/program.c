/* SPDX-License-Identifier: MIT */
#include "interpose/program.h"

#include "keygen/scan.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS      16
#define TABLE_START 64

struct shard {
	pthread_mutex_t lock;
	struct program **buckets;
	size_t bucket_count;
	size_t count;
};

static struct shard shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static size_t hash(nvrtcProgram handle)
{
	return (size_t)(((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static struct shard *shard_of(nvrtcProgram handle)
{
	return &shards[hash(handle) % SHARDS];
}

static struct program **bucket_of(const struct shard *shard, nvrtcProgram handle)
{
	return &shard->buckets[hash(handle) / SHARDS % shard->bucket_count];
}

static bool grow(struct shard *shard)
{
	size_t count = shard->bucket_count ? shard->bucket_count * 2 : TABLE_START;
	struct program **buckets = calloc(count, sizeof(struct program *));
	struct shard larger = {.buckets = buckets, .bucket_count = count};

	if (!buckets) {
		return shard->bucket_count > 0;
	}
	for (size_t i = 0; i < shard->bucket_count; i++) {
		struct program *program = shard->buckets[i];

		while (program) {
			struct program *next = program->next;
			struct program **bucket = bucket_of(&larger, program->handle);

			program->next = *bucket;
			*bucket = program;
			program = next;
		}
	}
	free(shard->buckets);
	shard->buckets = buckets;
	shard->bucket_count = count;
	return true;
}

void program_free(struct program *program)
{
	if (!program) {
		return;
	}
	stream_free(&program->creation);
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

/* Takes the record out of the table; a handle that was destroyed behind our back and given out again has one too. */
static struct program *take_out(struct shard *shard, nvrtcProgram handle)
{
	struct program **link = shard->bucket_count ? bucket_of(shard, handle) : NULL;

	for (; link && *link; link = &(*link)->next) {
		struct program *program = *link;

		if (program->handle == handle) {
			*link = program->next;
			shard->count--;
			return program;
		}
	}
	return NULL;
}

/* Puts the record in, in the place of one of the same handle. */
static bool put_in(struct program *program)
{
	struct shard *shard = shard_of(program->handle);
	struct program *stale;
	bool added = false;

	pthread_mutex_lock(&shard->lock);
	stale = take_out(shard, program->handle);
	if (shard->count < shard->bucket_count || grow(shard)) {
		struct program **bucket = bucket_of(shard, program->handle);

		program->next = *bucket;
		*bucket = program;
		shard->count++;
		added = true;
	}
	pthread_mutex_unlock(&shard->lock);
	program_free(stale);
	return added;
}

struct program *program_add(nvrtcProgram handle, struct library *library, bool by_export)
{
	struct program *program = calloc(1, sizeof(*program));

	if (!program) {
		program_free(program_take(handle));
		return NULL;
	}
	program->handle = handle;
	program->library = library;
	program->by_export = by_export;
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
	struct shard *shard = shard_of(handle);
	struct program *program = NULL;

	pthread_mutex_lock(&shard->lock);
	if (shard->bucket_count) {
		program = *bucket_of(shard, handle);
		while (program && program->handle != handle) {
			program = program->next;
		}
	}
	pthread_mutex_unlock(&shard->lock);
	return program;
}

struct program *program_take(nvrtcProgram handle)
{
	struct shard *shard = shard_of(handle);
	struct program *program;

	pthread_mutex_lock(&shard->lock);
	program = take_out(shard, handle);
	pthread_mutex_unlock(&shard->lock);
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
                     const struct fingerprint *asked, bool done)
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
	calls[count - 1] = (struct compile_call){copy, option_count, *asked, done};
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

void program_fork_prepare(void)
{
	for (int i = 0; i < SHARDS; i++) {
		pthread_mutex_lock(&shards[i].lock);
	}
}

void program_fork_parent(void)
{
	for (int i = 0; i < SHARDS; i++) {
		pthread_mutex_unlock(&shards[i].lock);
	}
}

void program_fork_child(void)
{
	for (int i = 0; i < SHARDS; i++) {
		pthread_mutex_init(&shards[i].lock, NULL);
	}
}
