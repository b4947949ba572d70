/* SPDX-License-Identifier: MIT */
/*
 * States of a count:
 *
 *     counted --taken for a record--> recorded
 *        ^----the write fails: given back, for the next record
 *        \--fork: the child starts from zero
 *
 * A worker may end without running our exit handler (_exit, SIGTERM, the end of a pool), so hits must be recorded
 * before that. Each of the first PROMPT_HITS hits is recorded at once, because a worker on a busy machine may need
 * its first second for a few hits. Then, until the process is a second old, counts are recorded once per tick of the
 * coarse clock, so that a loop of hits in memory costs at most one record of some microseconds per tick. After that
 * they are recorded once a second.
 *
 * If the host has removed the directory since the first record, none creates it again (after chroot nothing does: see
 * ground_settle()). If there is nothing to record at exit, no system call is made, because a sandbox that the host
 * has entered meanwhile (seccomp) may kill a process for it.
 */
#include "cache/events.h"

#include "cache/agent_client.h"
#include "cache/calls.h"

#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define PERIOD_NS   INT64_C(1000000000)
#define PROMPT_HITS 256

static struct events_place where; /* written before there are threads that record */
static _Atomic pid_t owner;
static _Atomic int64_t began_ns; /* CLOCK_MONOTONIC_COARSE at the first record that was tried; 0: none yet */
static _Atomic int64_t tried_ns; /* the same clock at the last record that was tried */
static _Atomic uint64_t tries;

void events_open(const struct directory *directory, pid_t process)
{
	where.directory = *directory;
	(void)snprintf(where.path, sizeof(where.path), "%s/" DIRECTORY_HOME "/" EVENTS_NAME,
	               directory->path ? directory->path : "");
	atomic_store_explicit(&owner, process, memory_order_relaxed);
}

static void begin_promptly(void)
{
	atomic_store_explicit(&began_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&tries, 0, memory_order_relaxed);
}

/* Drops what the process has inherited. Called from the atfork handler, or when the fork is noticed. */
void events_fork_child(void)
{
	counters_fork_child();
	begin_promptly();
	atomic_store_explicit(&where.known, 0, memory_order_relaxed);
	atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
}

static bool is_due(void)
{
	int64_t now_ns = call_clock_ns(CLOCK_MONOTONIC_COARSE);
	int64_t first_ns = atomic_load_explicit(&began_ns, memory_order_relaxed);
	int64_t last_ns = atomic_load_explicit(&tried_ns, memory_order_relaxed);

	return atomic_load_explicit(&tries, memory_order_relaxed) < PROMPT_HITS || now_ns - last_ns >= PERIOD_NS ||
	       (now_ns - first_ns < PERIOD_NS && now_ns != last_ns);
}

/* Returns whether the amounts are those of a single hit. After a hit, none of them can then be another process's. */
static bool is_one_hit(const struct counters_amounts *amounts)
{
	const struct counters_amount *list = amounts->list; /* in the order of the counters */
	const uint64_t first = COUNTER_NVRTC_hits_memory, kind = (list[0].counter - first) % COUNTERS_EACH;

	return list[0].counter >= first && kind < 2 && list[0].amount == 1 &&
	       (amounts->count == 1 || list[1].counter - list[0].counter + kind == COUNTERS_EACH - 1); /* saved_ns */
}

/*
 * Takes the counts that are not recorded, or drops them if they may be those of the process that this one was forked
 * from. Atfork handlers do not run for _Fork, clone and vfork (glibc bug 17490). The first hits are spared a system
 * call.
 */
static void take_own(struct counters_amounts *ret_amounts, bool after_hit)
{
	counters_take(ret_amounts);
	if (ret_amounts->count == 0 || (after_hit && is_one_hit(ret_amounts))) {
		return;
	}
	if (atomic_load_explicit(&owner, memory_order_relaxed) != getpid()) {
		events_fork_child();
		ret_amounts->count = 0;
	}
}

int events_tell(struct events_record *record, enum events_when when)
{
	const bool has_call = record->kind != EVENTS_COUNTS;
	int64_t none = 0, now_ns;
	struct counters_amounts amounts;
	int error;

	if (!where.directory.path || (!has_call && when == EVENTS_WHEN_DUE && !is_due())) {
		return 0;
	}
	if (when == EVENTS_NOW) { /* hits after our exit handler are recorded at once, like the first ones */
		begin_promptly();
	}
	take_own(&amounts, !has_call && when == EVENTS_WHEN_DUE);
	if (!has_call && amounts.count == 0) {
		return 0;
	}
	now_ns = call_clock_ns(CLOCK_MONOTONIC_COARSE);
	(void)atomic_compare_exchange_strong(&began_ns, &none, now_ns);
	atomic_store_explicit(&tried_ns, now_ns, memory_order_relaxed);
	record->when_ns = (uint64_t)call_clock_ns(CLOCK_REALTIME);
	record->parts[EVENTS_AMOUNTS] =
	    (struct events_text){amounts.list, amounts.count * sizeof(struct counters_amount)};
	error = events_append(&where, record, when);
	/* a directory that cannot be written is not tried for each hit; a full file is about to be rolled over */
	atomic_fetch_add_explicit(&tries, error != 0 && error != -EFBIG ? PROMPT_HITS / 8 : 1, memory_order_relaxed);
	if (error != 0) {
		counters_give_back(&amounts);
	}
	return error;
}

int events_tell_counts(enum events_when when)
{
	return events_tell(&(struct events_record){.kind = EVENTS_COUNTS}, when);
}

/* ---- the bytes of a record ---- */

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "records are written as they are in memory");
_Static_assert(EVENTS_HEAD_BYTES == 120, "no padding");
_Static_assert(EVENTS_RECORD_BYTES <= UINT16_MAX, "sizes of parts");

static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
	const size_t from = offsetof(struct events_record, size);

	return XXH3_64bits(bytes + from, size - from);
}

size_t events_spell(const struct events_record *record, uint8_t *ret_bytes)
{
	struct events_record head = *record;
	size_t size = EVENTS_HEAD_BYTES;

	for (size_t i = 0; i < EVENTS_PARTS; i++) {
		head.sizes[i] = (uint16_t)record->parts[i].size;
		if (head.sizes[i] > 0) {
			memcpy(ret_bytes + size, record->parts[i].bytes, head.sizes[i]);
		}
		size += head.sizes[i];
	}
	memcpy(head.magic, EVENTS_MAGIC, sizeof(head.magic));
	head.size = (uint32_t)size;
	head.list = COUNTERS_LIST;
	memcpy(ret_bytes, &head, EVENTS_HEAD_BYTES);
	head.checksum = sum_of(ret_bytes, size);
	memcpy(ret_bytes, &head, EVENTS_HEAD_BYTES);
	return size;
}

/* Reads the record at the beginning of `bytes`. Returns its size, or 0 if there is no sound record. */
static size_t read_record(const uint8_t *bytes, size_t size, struct events_record *ret_record)
{
	const struct events_record *head = ret_record;
	size_t at = EVENTS_HEAD_BYTES;

	if (size < EVENTS_HEAD_BYTES) {
		return 0;
	}
	memcpy(ret_record, bytes, EVENTS_HEAD_BYTES);
	if (head->size > size || head->size > EVENTS_RECORD_BYTES || head->size < EVENTS_HEAD_BYTES ||
	    head->list != COUNTERS_LIST || head->checksum != sum_of(bytes, head->size) || head->kind >= EVENTS_KINDS ||
	    head->reason >= COUNTER_COUNT || head->why > EVENTS_WHY_UNFIT || head->agent >= AGENT_OUTCOME_COUNT) {
		return 0;
	}
	for (size_t i = 0; i < EVENTS_PARTS; i++) {
		if (head->sizes[i] > head->size - at) {
			return 0;
		}
		ret_record->parts[i] = (struct events_text){bytes + at, head->sizes[i]};
		at += head->sizes[i];
	}
	return head->size;
}

bool events_next(const void *bytes, size_t size, size_t *at, struct events_record *ret_record)
{
	const uint8_t *all = bytes, *found;

	while (*at < size && (found = memmem(all + *at, size - *at, EVENTS_MAGIC, DIRECTORY_MAGIC_BYTES)) != NULL) {
		size_t begin = (size_t)(found - all), used = read_record(found, size - begin, ret_record);

		*at = begin + (used ? used : 1);
		if (used) {
			return true;
		}
	}
	*at = size;
	return false;
}

void events_add_amounts(const struct events_record *record, uint64_t counts[COUNTER_COUNT], uint64_t *since_ns)
{
	const struct events_text *amounts = &record->parts[EVENTS_AMOUNTS];
	struct counters_amount amount;

	if (record->kind == EVENTS_ZERO) {
		memset(counts, 0, COUNTER_COUNT * sizeof(*counts));
		*since_ns = record->when_ns;
	}
	*since_ns = *since_ns ? *since_ns : record->when_ns;
	for (size_t at = 0; at + sizeof(amount) <= amounts->size; at += sizeof(amount)) {
		memcpy(&amount, (const uint8_t *)amounts->bytes + at, sizeof(amount));
		if (amount.counter < COUNTER_COUNT) {
			counts[amount.counter] += amount.amount;
		}
	}
}
