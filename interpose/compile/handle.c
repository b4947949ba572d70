/* SPDX-License-Identifier: MIT */
/*
 * The table of records consists of shards by hash. Each shard has an open-addressed table, which is read without a lock
 * and changed under the shard's mutex.
 */
#include "interpose/compile/handle.h"

#include "cache/directory.h"
#include "cache/fork_mutex.h"
#include "interpose/watch/arithmetic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS      16
#define TABLE_START ((size_t)64)

/*
 * A look-up takes no lock: NVRTC's getters take none, so they may be called from a signal handler, be cancelled or
 * left by longjmp, or run in a child of _Fork(), which runs no atfork handlers. A change takes the shard's lock.
 *
 * A slot has a handle, and a record while the handle's program lives; a look-up ends at a slot without a handle. It
 * finds each record whose addition happened before it, even if other threads change the table:
 * - A record stays in its slot. While it is there, every slot between the start of its look-up and its own slot has a
 *   handle (empty_slot() removes handles only from the end of such a run). None of those slots has the record's own
 *   handle, because that was put into the first vacant slot, and into one only.
 * - Handles are compared in the table: a record that another thread frees meanwhile is not accessed.
 * - A full table is copied, and the old one stays readable: a look-up in the old one began before the new one was
 *   published, and so before later additions. Callers do not look up a record that was removed meanwhile. Tables
 *   only double, so the sum of all earlier ones is smaller than the present one.
 *
 * Each change is one store, before and after which the table is consistent: a child forked meanwhile has all records
 * except the one being added or removed, and a signal handler finds all.
 */
struct slot {
	_Atomic(void *) value;
	_Atomic(struct handle *) record;
};

struct table {
	struct table *before; /* not freed, because a look-up may still read it */
	size_t size;          /* a power of two */
	size_t used;          /* slots with a handle, counted before the handle is stored */
	struct slot slots[];
};

struct shard {
	struct fork_mutex lock;
	_Atomic(struct table *) table; /* NULL until there is a record */
};

static struct shard shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = FORK_MUTEX_INITIALIZER}};

static size_t hash_value(void *value)
{
	return (size_t)(((uintptr_t)value >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static struct shard *shard_of(void *value)
{
	return &shards[hash_value(value) % SHARDS];
}

static void *value_in(const struct slot *slot)
{
	return atomic_load_explicit(&slot->value, memory_order_relaxed);
}

static struct handle *record_in(const struct slot *slot)
{
	return atomic_load_explicit(&slot->record, memory_order_acquire);
}

/* Returns the slot of the handle's record; otherwise NULL, and the slot for a new record (NULL: the table is full). */
static struct slot *slot_of(struct table *table, void *value, struct slot **ret_vacant)
{
	size_t at = hash_value(value) / SHARDS;

	*ret_vacant = NULL;
	for (size_t i = 0; table && i < table->size; i++, at++) {
		struct slot *slot = &table->slots[at & (table->size - 1)];
		void *there = value_in(slot);
		bool vacant = !there || !record_in(slot);

		if (there == value && !vacant) {
			return slot;
		}
		if (vacant && !*ret_vacant) {
			*ret_vacant = slot;
		}
		if (!there) {
			break;
		}
	}
	return NULL;
}

static void fill_slot(struct table *table, struct slot *slot, struct handle *handle)
{
	table->used += !value_in(slot);
	atomic_store_explicit(&slot->value, handle->value, memory_order_relaxed);
	atomic_store_explicit(&slot->record, handle, memory_order_release);
}

/*
 * Removes the record. If no look-up continues past this slot, also removes its handle and those of the vacant slots
 * before it.
 */
static void empty_slot(struct table *table, struct slot *slot)
{
	size_t at = (size_t)(slot - table->slots);

	atomic_store_explicit(&slot->record, NULL, memory_order_release);
	if (value_in(&table->slots[(at + 1) & (table->size - 1)])) {
		return;
	}
	while (value_in(slot) && !record_in(slot)) {
		atomic_store_explicit(&slot->value, NULL, memory_order_release);
		table->used--;
		slot = &table->slots[--at & (table->size - 1)];
	}
}

/*
 * Makes room for one more handle. Doubles the table when half of its slots are in use, if there is memory. False: there
 * is no room.
 */
static bool grow_table(struct shard *shard)
{
	struct table *table = shard->table;
	size_t size = table ? table->size * 2 : TABLE_START;
	struct table *larger;
	struct slot *vacant;

	if (table && table->used < table->size / 2) {
		return true;
	}
	larger = calloc(1, sizeof(*larger) + size * sizeof(larger->slots[0]));
	if (!larger) {
		return table && table->used < table->size - 1;
	}
	larger->before = table;
	larger->size = size;
	for (size_t i = 0; table && i < table->size; i++) {
		struct handle *handle = value_in(&table->slots[i]) ? record_in(&table->slots[i]) : NULL;

		if (handle) {
			(void)slot_of(larger, handle->value, &vacant);
			fill_slot(larger, vacant, handle);
		}
	}
	atomic_store_explicit(&shard->table, larger, memory_order_release);
	return true;
}

void handle_free(struct handle *handle)
{
	if (!handle) {
		return;
	}
	if (handle->library->compiler->free_handle) {
		handle->library->compiler->free_handle(handle);
	}
	stream_free(&handle->creation);
	stream_free(&handle->recorded);
	free(handle->name);
	for (size_t i = 0; i < handle->call_count; i++) {
		free((void *)handle->calls[i].call.options);
	}
	free(handle->calls);
	free(handle->keys);
	for (size_t i = 0; i < handle->held_count; i++) {
		entry_unref(handle->held[i]);
	}
	free(handle->held);
	free(handle);
}

/*
 * Adds the record, or frees it if there is no memory. A record with the same handle is replaced, because its handle was
 * destroyed without this library's notice and the value was reused.
 */
bool handle_put_back(struct handle *handle)
{
	struct shard *shard = shard_of(handle->value);
	struct handle *stale = NULL;
	struct slot *slot, *vacant;
	bool added = true;

	fork_mutex_lock(&shard->lock);
	slot = slot_of(shard->table, handle->value, &vacant);
	if (slot) {
		stale = record_in(slot);
		fill_slot(shard->table, slot, handle);
	} else if (grow_table(shard)) {
		(void)slot_of(shard->table, handle->value, &vacant);
		fill_slot(shard->table, vacant, handle);
	} else {
		added = false;
	}
	fork_mutex_unlock(&shard->lock);
	handle_free(stale);
	return added;
}

void *handle_add(size_t size, void *value, struct library *library, enum reach reach)
{
	struct handle *handle = calloc(1, size);

	if (!handle) {
		handle_free(handle_take(value));
		return NULL;
	}
	handle->value = value;
	handle->library = library;
	handle->reach = reach;
	handle->keyed = true;
	if (!handle_put_back(handle)) {
		handle_free(handle);
		return NULL;
	}
	return handle;
}

struct handle *handle_find(void *value)
{
	struct table *table = atomic_load_explicit(&shard_of(value)->table, memory_order_acquire);
	struct slot *vacant;
	const struct slot *slot = slot_of(table, value, &vacant);

	return slot ? record_in(slot) : NULL;
}

struct handle *handle_find_of(const struct compiler *compiler, void *value)
{
	struct handle *handle = handle_find(value);

	return handle && handle->library->compiler == compiler ? handle : NULL;
}

struct handle *handle_take(void *value)
{
	struct shard *shard = shard_of(value);
	struct handle *handle = NULL;
	struct slot *slot, *vacant;

	fork_mutex_lock(&shard->lock);
	slot = slot_of(shard->table, value, &vacant);
	if (slot) {
		handle = record_in(slot);
		empty_slot(shard->table, slot);
	}
	fork_mutex_unlock(&shard->lock);
	return handle;
}

bool handle_call_sound(const struct call *call)
{
	if (call->option_count < 0 || (call->option_count > 0 && !call->options)) {
		return false;
	}
	for (int i = 0; i < call->option_count; i++) {
		if (!call->options[i]) {
			return false;
		}
	}
	return true;
}

char **handle_copy_options(const struct call *call)
{
	size_t count = (size_t)call->option_count;
	size_t size = (count + 1) * sizeof(char *);
	char **copy;
	char *text;

	for (size_t i = 0; i < count; i++) {
		size += strlen(call->options[i]) + 1;
	}
	copy = malloc(size);
	if (!copy) {
		return NULL;
	}
	text = (char *)(copy + count + 1);
	for (size_t i = 0; i < count; i++) {
		copy[i] = text;
		text = stpcpy(text, call->options[i]) + 1;
	}
	copy[count] = NULL;
	return copy;
}

int handle_add_call(struct handle *handle, const struct call *call, const struct key *key, uint64_t asked,
                    enum call_state state)
{
	size_t count = handle->call_count + 1;
	struct past_call *calls = realloc(handle->calls, count * sizeof(*calls));
	struct key *keys = realloc(handle->keys, count * sizeof(*keys));
	char **copy = handle_copy_options(call);

	handle->calls = calls ? calls : handle->calls;
	handle->keys = keys ? keys : handle->keys;
	if (!calls || !keys || !copy) {
		free(copy);
		return -ENOMEM;
	}
	calls[count - 1] = (struct past_call){
	    .call = {call->option_count, (const char *const *)copy, call->kind},
	    .mode = arithmetic_mode(),
	    .asked = asked,
	    .state = state,
	};
	keys[count - 1] = *key;
	handle->call_count = count;
	return 0;
}

void handle_forget_calls(struct handle *handle, int kind)
{
	size_t left = 0;

	for (size_t i = 0; i < handle->call_count; i++) {
		if (handle->calls[i].call.kind <= kind) {
			free((void *)handle->calls[i].call.options);
			continue;
		}
		handle->calls[left] = handle->calls[i];
		handle->keys[left++] = handle->keys[i];
	}
	handle->call_count = left;
}

bool handle_has_deferred(const struct handle *handle)
{
	for (size_t i = 0; i < handle->call_count; i++) {
		if (handle->calls[i].state == CALL_DEFERRED) {
			return true;
		}
	}
	return false;
}

int handle_answer_from(struct handle *handle, struct entry *entry)
{
	struct entry **held = realloc(handle->held, (handle->held_count + 1) * sizeof(struct entry *));

	if (!held) {
		return -ENOMEM;
	}
	handle->held = held;
	held[handle->held_count++] = entry_ref(entry);
	handle->served = entry;
	return 0;
}

void handle_unkey(struct handle *handle, enum counter reason)
{
	handle->keyed = false;
	handle->reason = reason;
	stream_free(&handle->creation);
}

int handle_enter_real(const struct handle *handle, enum cancellation cancellation)
{
	int ours = PTHREAD_CANCEL_DISABLE;

	directory_drop_root();
	atomic_store_explicit(&handle->library->waking, STEP_DONE, memory_order_release);
	if (cancellation == CANCELLATION_OF_HOST) {
		(void)pthread_setcancelstate(handle->cancel_state, &ours);
	}
	return cancellation == CANCELLATION_OF_HOST ? ours : -1;
}

void handle_leave_real(int state)
{
	if (state >= 0) {
		(void)pthread_setcancelstate(state, NULL);
	}
}

void handle_fork_child(void)
{
	for (int i = 0; i < SHARDS; i++) {
		(void)fork_mutex_fork_child(&shards[i].lock);
	}
}
