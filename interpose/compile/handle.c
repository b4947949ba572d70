/* SPDX-License-Identifier: MIT */
#include "interpose/compile/handle.h"

#include "cache/directory.h"
#include "cache/fork_mutex.h"
#include "interpose/watch/arithmetic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

/*
 * The records, by hash. A look-up takes no lock: NVRTC's getters take none, so they may be called from a signal
 * handler, be cancelled or left by longjmp, or run in a child of _Fork(), which runs no atfork handlers. A change takes
 * the lock.
 *
 * A bucket is a list of slots that grows at its front. A slot has a record while the handle's program lives. A look-up
 * finds each record whose addition happened before it, even if other threads change the list:
 * - Slots are never freed or moved, and a record is in one slot only.
 * - Handles are compared in the list: a record that another thread frees meanwhile is not accessed.
 *
 * Each change is one store, before and after which the list is consistent: a child forked meanwhile has all records
 * except the one being added or removed, and a signal handler finds all.
 */
struct slot {
	_Atomic(void *) value;
	_Atomic(struct handle *) record; /* NULL: the slot is vacant */
	struct slot *next;
};

static _Atomic(struct slot *) buckets[BUCKETS];
static struct fork_mutex lock = FORK_MUTEX_INITIALIZER;

static _Atomic(struct slot *) *bucket_of(void *value)
{
	return &buckets[((uintptr_t)value >> 4) * UINT64_C(0x9e3779b97f4a7c15) / (UINT64_MAX / BUCKETS + 1)];
}

static struct handle *record_in(const struct slot *slot)
{
	return atomic_load_explicit(&slot->record, memory_order_acquire);
}

/* Returns the slot of the handle's record; otherwise NULL, and a vacant slot (or NULL). */
static struct slot *slot_of(void *value, struct slot **ret_vacant)
{
	struct slot *slot = atomic_load_explicit(bucket_of(value), memory_order_acquire);

	*ret_vacant = NULL;
	for (; slot; slot = slot->next) {
		if (!record_in(slot)) {
			*ret_vacant = slot;
		} else if (atomic_load_explicit(&slot->value, memory_order_relaxed) == value) {
			return slot;
		}
	}
	return NULL;
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
	_Atomic(struct slot *) *bucket = bucket_of(handle->value);
	struct handle *stale = NULL;
	struct slot *slot, *vacant, *added = NULL;

	fork_mutex_lock(&lock);
	slot = slot_of(handle->value, &vacant);
	if (slot) {
		stale = record_in(slot);
	} else {
		slot = vacant ? vacant : (added = calloc(1, sizeof(*added)));
	}
	if (slot) {
		atomic_store_explicit(&slot->value, handle->value, memory_order_relaxed);
		atomic_store_explicit(&slot->record, handle, memory_order_release);
	}
	if (added) {
		added->next = atomic_load_explicit(bucket, memory_order_relaxed);
		atomic_store_explicit(bucket, added, memory_order_release);
	}
	fork_mutex_unlock(&lock);
	handle_free(stale);
	return slot != NULL;
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
	struct slot *vacant;
	const struct slot *slot = slot_of(value, &vacant);

	return slot ? record_in(slot) : NULL;
}

struct handle *handle_find_of(const struct compiler *compiler, void *value)
{
	struct handle *handle = handle_find(value);

	return handle && handle->library->compiler == compiler ? handle : NULL;
}

struct handle *handle_take(void *value)
{
	struct handle *handle = NULL;
	struct slot *slot, *vacant;

	fork_mutex_lock(&lock);
	slot = slot_of(value, &vacant);
	if (slot) {
		handle = record_in(slot);
		atomic_store_explicit(&slot->record, NULL, memory_order_release);
	}
	fork_mutex_unlock(&lock);
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

/* Either all of a call is added or nothing; what realloc() has enlarged stays valid and is used by the next call. */
static int add_call(struct handle *handle, const struct call *call, const struct key *key, uint64_t asked,
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

void handle_unkey(struct handle *handle, enum counter reason)
{
	handle->keyed = false;
	handle->reason = reason;
	stream_free(&handle->creation);
}

void handle_note_independent(struct handle *handle, const struct call *call, uint64_t asked)
{
	handle_forget_calls(handle, call->kind);
	if (handle_has_deferred(handle) && handle_call_sound(call) &&
	    add_call(handle, call, &(struct key){{0}}, asked, CALL_DEFERRED) != 0) {
		handle_unkey(handle, COUNTER_ERRORS_memory);
	}
}

void handle_note_done(struct handle *handle, const struct call *call, const struct key *key, enum outcome outcome,
                      const struct entry *kept)
{
	const struct compiler *compiler = handle->library->compiler;
	bool refused = outcome == OUTCOME_REFUSED_OPTIONS;

	if (!handle->keyed) {
		return; /* there was no memory for the hit that this call was */
	}
	if (add_call(handle, call, key, 0, refused ? CALL_REFUSED : CALL_DONE) != 0) {
		handle_unkey(handle, COUNTER_ERRORS_memory);
	} else if (outcome != OUTCOME_SUCCESS && outcome != OUTCOME_FAILURE && !refused) {
		handle_unkey(handle, COUNTER_BYPASSED_history);
	} else if (compiler->past == PAST_LEAVES && !refused) {
		stream_free(&handle->creation);
	} else if (compiler->past == PAST_GROWS && !kept) {
		/* later steps depend on everything that this step depends on, which only an entry tells */
		handle_unkey(handle, COUNTER_BYPASSED_history);
	} else if (compiler->past == PAST_GROWS && compiler->served) {
		compiler->served(handle, kept);
	}
}

bool handle_note_served(struct handle *handle, const struct call *call, const struct key *key, uint64_t asked,
                        struct entry *entry)
{
	const struct compiler *compiler = handle->library->compiler;
	struct entry **held = realloc(handle->held, (handle->held_count + 1) * sizeof(struct entry *));

	if (compiler->past == PAST_IS_NOTHING) {
		handle_forget_calls(handle, call->kind);
	}
	handle->held = held ? held : handle->held;
	if (!held || add_call(handle, call, key, asked, CALL_DEFERRED) != 0) {
		handle_unkey(handle, COUNTER_ERRORS_memory);
		return false;
	}
	held[handle->held_count++] = entry_ref(entry);
	handle->served = entry;
	handle->calls[handle->call_count - 1].answer = entry;
	if (compiler->served) {
		compiler->served(handle, entry);
	}
	if (compiler->past == PAST_LEAVES) {
		stream_free(&handle->creation);
	}
	return true;
}

enum outcome handle_outcome(const struct compiler *compiler, int return_code)
{
	return return_code >= 0 && (size_t)return_code < compiler->outcome_count ? compiler->outcomes[return_code]
	                                                                         : OUTCOME_OTHER;
}

/* ---- options that last ---- */

/* The value of `uncleared` after calls with different sets of uncleared options. */
#define UNCLEARED_SEVERAL UINT64_MAX

struct lasting lasting_begin(struct library *library, const struct call *call)
{
	struct lasting lasting = library->compiler->lasting ? library->compiler->lasting(call) : (struct lasting){0};

	atomic_fetch_or(&library->told, lasting.sticky);
	if (lasting.uncleared) {
		atomic_fetch_add(&library->uncleared_running, 1);
	}
	return lasting;
}

void lasting_end(struct library *library, const struct lasting *lasting, int result)
{
	if (lasting->uncleared) {
		if (handle_outcome(library->compiler, result) != OUTCOME_REFUSED_OPTIONS) {
			lasting_note(library, lasting->uncleared);
		}
		atomic_fetch_sub(&library->uncleared_running, 1);
	}
}

void lasting_note(struct library *library, uint64_t uncleared)
{
	uint64_t earlier = 0;

	if (!atomic_compare_exchange_strong(&library->uncleared, &earlier, uncleared) && earlier != uncleared) {
		atomic_store(&library->uncleared, UNCLEARED_SEVERAL);
	}
}

enum counter lasting_spoils(const struct library *library, uint32_t spoiling, uint64_t uncleared)
{
	/* read before `uncleared`, to which a running call adds before it ends */
	bool running = atomic_load(&library->uncleared_running) != 0;
	uint64_t earlier = atomic_load(&library->uncleared);

	if (atomic_load(&library->told) & spoiling) {
		return COUNTER_BYPASSED_sticky_options;
	}
	return running || earlier == UNCLEARED_SEVERAL || (earlier != 0 && earlier != uncleared)
	           ? COUNTER_BYPASSED_uncleared_options
	           : COUNTER_NONE;
}

/* ---- the real call ---- */

int handle_enter_real(const struct handle *handle)
{
	int ours = PTHREAD_CANCEL_DISABLE;

	directory_drop_root();
	atomic_store_explicit(&handle->library->waking, STEP_DONE, memory_order_release);
	(void)pthread_setcancelstate(handle->cancel_state, &ours);
	return ours;
}

int handle_run(const struct handle *handle, const struct call *call)
{
	struct lasting lasting = lasting_begin(handle->library, call);
	int ours = handle_enter_real(handle);
	int result = handle->library->compiler->run(handle, call);

	(void)pthread_setcancelstate(ours, NULL);
	lasting_end(handle->library, &lasting, result);
	return result;
}

void handle_fork_child(void)
{
	(void)fork_mutex_fork_child(&lock);
}
