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
#include <string.h>
#include <xxhash.h>

#define PERIOD_NS   INT64_C(1000000000)
#define PROMPT_HITS 256

static struct directory where; /* written before there are threads that record */
static enum events_access access_wanted;
static _Atomic pid_t owner;
static _Atomic int64_t began_ns; /* CLOCK_MONOTONIC_COARSE at the first record that was tried; 0: none yet */
static _Atomic int64_t tried_ns; /* the same clock at the last record that was tried */
static _Atomic uint64_t tries;
static atomic_bool failed; /* the last record could not be written */
static atomic_bool wrote;  /* a record was written, so the directory existed or was created */

void events_open(const struct directory *directory, enum events_access access, pid_t process)
{
	where = *directory;
	access_wanted = access;
	atomic_store_explicit(&owner, process, memory_order_relaxed);
}

static void begin_promptly(void)
{
	atomic_store_explicit(&began_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&tries, 0, memory_order_relaxed);
}

static void begin_anew(pid_t process)
{
	begin_promptly();
	atomic_store_explicit(&wrote, false, memory_order_relaxed);
	atomic_store_explicit(&owner, process, memory_order_relaxed);
}

void events_fork_child(void)
{
	counters_fork_child();
	begin_anew(getpid());
}

static bool is_due(void)
{
	int64_t now_ns = call_clock_ns(CLOCK_MONOTONIC_COARSE);
	int64_t first_ns = atomic_load_explicit(&began_ns, memory_order_relaxed);
	int64_t last_ns = atomic_load_explicit(&tried_ns, memory_order_relaxed);

	if (first_ns == 0 || now_ns - last_ns >= PERIOD_NS) {
		return true;
	}
	if (atomic_load_explicit(&failed, memory_order_relaxed)) {
		return false;
	}
	return atomic_load_explicit(&tries, memory_order_relaxed) < PROMPT_HITS ||
	       (now_ns - first_ns < PERIOD_NS && now_ns != last_ns);
}

/* Returns whether the amounts are those of a single hit. After a hit, none of them can then be another process's. */
static bool is_one_hit(const struct counters_amounts *amounts)
{
	const struct counters_amount *list = amounts->list; /* in the order of the counters */
	enum counter_group of;

	if (amounts->count == 0 || list[0].amount != 1) {
		return false;
	}
	of = counter_group((enum counter)list[0].counter);
	return of >= COUNTER_NVRTC && list[0].counter <= counter_share(of, COUNTER_TOTAL_hits_disk) &&
	       (amounts->count == 1 || list[1].counter > counter_share(of, COUNTER_TOTAL_bypassed));
}

/*
 * Drops all counts, and returns true, if they may be those of the process that this one was forked from. Atfork
 * handlers do not run for _Fork, clone and vfork (glibc bug 17490).
 */
static bool drop_inherited(const struct counters_amounts *amounts, enum events_when when)
{
	pid_t process;

	if (when == EVENTS_WHEN_DUE && is_one_hit(amounts)) { /* spares the first hits a system call */
		return false;
	}
	process = getpid();
	if (atomic_load_explicit(&owner, memory_order_relaxed) == process) {
		return false;
	}
	counters_fork_child();
	begin_anew(process);
	return true;
}

/* Writes the record with the counts that are not recorded yet. */
static int write_record(struct events_record *record, const struct counters_amounts *amounts, enum events_when when)
{
	int64_t none = 0, now_ns = call_clock_ns(CLOCK_MONOTONIC_COARSE);
	int error;

	(void)atomic_compare_exchange_strong(&began_ns, &none, now_ns);
	atomic_store_explicit(&tried_ns, now_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&tries, 1, memory_order_relaxed);
	record->parts[EVENTS_AMOUNTS] =
	    (struct events_text){amounts->list, amounts->count * sizeof(struct counters_amount)};
	error = events_append(&where, record,
	                      atomic_load_explicit(&wrote, memory_order_relaxed) ? EVENTS_FIND : EVENTS_MAKE, when);
	if (error == 0) {
		atomic_store_explicit(&wrote, true, memory_order_relaxed);
	} else {
		counters_give_back(amounts);
	}
	atomic_store_explicit(&failed, error != 0, memory_order_relaxed);
	return error;
}

static int check_directory(void)
{
	return !where.path ? -ENXIO : where.path[0] != '/' ? -EINVAL : 0;
}

int events_tell(struct events_record *record)
{
	struct counters_amounts amounts;
	int error = check_directory();

	if (error != 0 || access_wanted == EVENTS_READ_ONLY) {
		return error;
	}
	counters_take(&amounts);
	if (drop_inherited(&amounts, EVENTS_NOW)) {
		amounts.count = 0;
	}
	return write_record(record, &amounts, EVENTS_WHEN_DUE);
}

int events_tell_counts(enum events_when when)
{
	struct events_record record = {.kind = EVENTS_COUNTS};
	struct counters_amounts amounts;
	int error = check_directory();

	if (access_wanted == EVENTS_READ_ONLY || error != 0 || (when == EVENTS_WHEN_DUE && !is_due())) {
		return error;
	}
	if (when == EVENTS_NOW) { /* hits after our exit handler are recorded at once, like the first ones */
		begin_promptly();
	}
	counters_take(&amounts);
	if (amounts.count == 0 || drop_inherited(&amounts, when)) {
		return 0;
	}
	record.when_ns = (uint64_t)call_clock_ns(CLOCK_REALTIME);
	return write_record(&record, &amounts, when);
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
			counts[amount.counter] = counters_sum(counts[amount.counter], amount.amount);
		}
	}
}
