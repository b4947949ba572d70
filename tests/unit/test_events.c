/* SPDX-License-Identifier: MIT */
/* events: the record of counts and calls, in one process and on disk */
#include "cache/agent_client.h"
#include "cache/events.h"
#include "cache/lock.h"
#include "tests/unit/support.h"
#include "tests/unit/syscalls.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <xxhash.h>

#define HITS   COUNTER_NVRTC_hits_memory
#define MISSES COUNTER_TOTAL_misses

static char root[4200], file[4300], old[4300];
static struct directory directory = {.path = root};

static void name_files(void)
{
	snprintf(file, sizeof(file), "%s/v1/events", root);
	snprintf(old, sizeof(old), "%s/v1/events.old", root);
}

static void set_up(void)
{
	own_directory_make();
	snprintf(root, sizeof(root), "%s/a/b/cache", own_directory);
	name_files();
	events_open(&directory, getpid());
}

TestSuite(events, .init = set_up, .fini = own_directory_remove);

static struct events get(void)
{
	struct events events;

	cr_assert_eq(events_read(&directory, EVENTS_ALL, &events), 0);
	return events;
}

static uint64_t total(enum counter counter)
{
	struct events events = get();
	uint64_t value = events.counts[counter];

	events_free(&events);
	return value;
}

static size_t calls_recorded(void)
{
	struct events events = get();
	size_t count = events.count;

	events_free(&events);
	return count;
}

static int count(enum counter counter, uint64_t number, enum events_when when)
{
	counters_add(counter, number);
	return events_tell_counts(when);
}

static char filler[EVENTS_TEXT_BYTES + 1];

/* Tells of a call that took `number` ns, with a text of `size` bytes. */
static int tell(uint64_t number, size_t size)
{
	struct events_record record = {
	    .kind = EVENTS_NOT_KEPT, .took_ns = number, .parts = {[EVENTS_DETAIL] = {filler, size}}};

	counters_add(MISSES, 1);
	return events_tell(&record, EVENTS_WHEN_DUE);
}

/* Like tell(), and waits while the file is full and was rolled over a moment ago. */
static void tell_patiently(uint64_t number, size_t size)
{
	struct events_record record = {
	    .kind = EVENTS_NOT_KEPT, .took_ns = number, .parts = {[EVENTS_DETAIL] = {filler, size}}};

	counters_add(MISSES, 1);
	for (unsigned tries = 0; events_tell(&record, EVENTS_WHEN_DUE) != 0; tries++) {
		cr_assert_lt(tries, 60000, "the file stays full");
		usleep(1000);
	}
}

static off_t size_of(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 ? found.st_size : -1;
}

static void *bytes_of(const char *path, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes;

	*ret_size = (size_t)size_of(path);
	bytes = malloc(*ret_size);
	cr_assert_eq(read(fd, bytes, *ret_size), (ssize_t)*ret_size);
	close(fd);
	return bytes;
}

/* Fills the newest file until it is rolled over. */
static void roll(void)
{
	struct stat before, now;

	do { /* the first record may be the one that rolls an earlier file over */
		tell_patiently(1, 0);
	} while (stat(file, &before) != 0);
	do {
		tell_patiently(1, 10000);
	} while (stat(file, &now) == 0 && now.st_ino == before.st_ino);
}

/* ---- this process ---- */

Test(events, every_counter_has_its_name_and_group)
{
	cr_expect_str_eq(counter_name(HITS), "hits_memory");
	cr_expect_str_eq(counter_name(COUNTER_BYPASSED_time_macros), "time_macros");
	cr_expect_eq(counter_group(MISSES), COUNTER_TOTAL);
	cr_expect_eq(counter_group(COUNTER_BYPASSED_disabled), COUNTER_BYPASSED);
	cr_expect_eq(counter_group(COUNTER_ERRORS_directory), COUNTER_ERRORS);
}

/* Records are read by their list: a changed one needs another number. */
Test(events, the_list_of_counters_has_its_number)
{
	char text[COUNTER_COUNT * 32] = "";
	size_t size = 0;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		size += (size_t)sprintf(text + size, "%s %d\n", counter_name((enum counter)i),
		                        (int)counter_group((enum counter)i));
	}
	cr_expect_eq(COUNTERS_LIST, XXH3_64bits(text, size), "COUNTERS_LIST must be 0x%016" PRIx64,
	             XXH3_64bits(text, size));
}

Test(events, a_total_is_the_sum_of_its_shares_and_of_calls_without_a_compiler)
{
	counters_add(COUNTER_TOTAL_misses, 1);
	counters_add(counter_share(COUNTER_NVRTC, COUNTER_TOTAL_misses), 2);
	cr_assert_eq(count(counter_share(COUNTER_NVVM, COUNTER_TOTAL_misses), 4, EVENTS_NOW), 0);
	cr_expect_eq(counters_here(COUNTER_TOTAL_misses), 7);
	cr_expect_eq(counters_here(COUNTER_NVVM_misses), 4);
	cr_expect_eq(total(COUNTER_TOTAL_misses), 7);
	cr_expect_eq(total(COUNTER_NVRTC_misses), 2);
	roll();
	roll(); /* the counts are carried */
	cr_expect_eq(total(COUNTER_TOTAL_misses), counters_here(COUNTER_TOTAL_misses));
}

Test(events, calls_are_recorded_at_once_however_many_there_were)
{
	for (uint64_t i = 1; i <= 600; i++) {
		cr_assert_eq(tell(i, 0), 0);
		cr_assert_eq(total(MISSES), i);
	}
	cr_expect_eq(calls_recorded(), 600);
}

Test(events, the_first_hits_of_a_process_are_recorded_one_by_one)
{
	for (uint64_t i = 1; i <= 256; i++) {
		cr_assert_eq(count(HITS, 1, EVENTS_WHEN_DUE), 0);
		cr_assert_eq(total(HITS), i);
	}
}

Test(events, hits_that_cannot_be_recorded_are_not_tried_one_by_one)
{
	unsigned tried = 0;

	events_open(&(struct directory){.path = "/dev/null/none"}, getpid());
	for (unsigned i = 0; i < 256; i++) {
		tried += count(HITS, 1, EVENTS_WHEN_DUE) != 0;
	}
	cr_expect(tried > 0 && tried < 256, "%u", tried);
}

Test(events, a_loop_of_hits_is_not_recorded_hit_by_hit)
{
	off_t before;

	for (int i = 0; i < 256; i++) {
		cr_assert_eq(count(HITS, 1, EVENTS_WHEN_DUE), 0);
	}
	before = size_of(file);
	for (int i = 0; i < 100000; i++) {
		cr_assert_eq(count(HITS, 1, EVENTS_WHEN_DUE), 0);
	}
	cr_expect_lt(size_of(file), before + 100000L * 64);
	cr_assert_eq(events_tell_counts(EVENTS_NOW), 0);
	cr_expect_eq(total(HITS), 100256);
	cr_assert_eq(count(HITS, 1, EVENTS_WHEN_DUE), 0); /* the process ends: this may be its last chance */
	cr_assert_eq(count(HITS, 1, EVENTS_WHEN_DUE), 0);
	cr_expect_eq(total(HITS), 100258);
}

Test(events, a_forked_child_counts_as_a_young_process)
{
	pid_t child;

	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(count(HITS, 1, EVENTS_WHEN_DUE), 0);
	}
	cr_assert_eq(events_tell_counts(EVENTS_NOW), 0);
	child = fork();
	if (child == 0) {
		events_fork_child();
		for (int i = 0; i < 100; i++) {
			if (count(HITS, 1, EVENTS_WHEN_DUE) != 0) {
				_exit(1);
			}
		}
		_exit(0);
	}
	cr_assert_eq(exit_of(child), 0);
	cr_expect_eq(total(HITS), 1100);
}

Test(events, a_forked_child_does_not_record_what_its_parent_has_not)
{
	pid_t child;

	counters_add(MISSES, 5);
	child = fork();
	if (child == 0) {
		events_fork_child();
		_exit(counters_here(MISSES) != 0 || count(MISSES, 1, EVENTS_NOW) != 0);
	}
	cr_assert_eq(exit_of(child), 0);
	cr_expect_eq(total(MISSES), 1);
	cr_assert_eq(events_tell_counts(EVENTS_NOW), 0);
	cr_expect_eq(total(MISSES), 6);
}

Test(events, a_child_whose_fork_handlers_did_not_run_does_not_double_count)
{
	cr_assert_eq(count(MISSES, 1, EVENTS_NOW), 0);
	counters_add(MISSES, 5);
	cr_assert_eq(in_child(events_tell_counts(EVENTS_NOW) != 0), 0);
	cr_expect_eq(total(MISSES), 1);
	cr_assert_eq(events_tell_counts(EVENTS_NOW), 0);
	cr_expect_eq(total(MISSES), 6);
	counters_add(HITS, 1); /* at exit, a single hit can be the parent's */
	cr_assert_eq(in_child(events_tell_counts(EVENTS_NOW) != 0), 0);
	cr_expect_eq(total(HITS), 0);
	counters_add(HITS, 1); /* after a hit, one of two can */
	cr_assert_eq(in_child(events_tell_counts(EVENTS_WHEN_DUE) != 0), 0);
	cr_expect_eq(total(HITS), 0);
}

static void *hammer(void *unused)
{
	for (int i = 0; i < 2000; i++) {
		if (i % 50 == 0) {
			tell(1, 100);
		} else {
			count(HITS, 1, EVENTS_WHEN_DUE);
		}
	}
	return NULL;
}

Test(events, threads_that_count_lose_nothing)
{
	pthread_t threads[8];

	start_threads(threads, 8, hammer);
	join_threads(threads, 8);
	cr_assert_eq(events_tell_counts(EVENTS_NOW), 0);
	cr_expect_eq(total(HITS), 8 * 1960);
	cr_expect_eq(total(MISSES), 8 * 40);
	cr_expect_eq(calls_recorded(), 8 * 40);
}

Test(events, a_removed_directory_is_not_made_again_by_the_same_process)
{
	cr_assert_eq(count(MISSES, 1, EVENTS_NOW), 0);
	remove_tree(root);
	cr_expect_eq(count(HITS, 1, EVENTS_NOW), -ENOENT);
	cr_expect_eq(access(root, F_OK), -1);
	events_fork_child(); /* another process */
	cr_assert_eq(count(HITS, 1, EVENTS_NOW), 0);
	cr_expect_eq(total(HITS), 1);
}

Test(events, nothing_is_written_without_counts_or_without_a_directory)
{
	cr_assert_eq(events_tell_counts(EVENTS_NOW), 0);
	events_open(&(struct directory){.path = NULL}, getpid());
	cr_assert_eq(count(HITS, 1, EVENTS_NOW), 0);
	cr_assert_eq(tell(1, 0), 0);
	cr_expect_eq(access(root, F_OK), -1);
	cr_expect_eq(total(HITS), 0);
}

enum step { STEP_FIRST, STEP_HIT, STEP_AGAIN, STEPS };

static void tell_step(void *context, unsigned step)
{
	const bool is_hit = step == STEP_FIRST || step == STEP_HIT;

	counters_add(HITS, is_hit);
	if (events_tell_counts(is_hit ? EVENTS_WHEN_DUE : EVENTS_NOW) != 0) {
		_exit(1);
	}
}

Test(events, a_hit_costs_six_system_calls_and_nothing_new_costs_none)
{
	struct syscalls counts[STEPS];

	skip_unless(syscalls_count(tell_step, NULL, STEPS, counts), "no tracing here");
	cr_expect_gt(counts[STEP_FIRST].all, 6);
	cr_expect_eq(counts[STEP_HIT].all, 6); /* open, fstat, block, write, restore, close */
	cr_expect_eq(counts[STEP_AGAIN].all, 0);
}

/* ---- records ---- */

Test(events, a_record_is_read_back)
{
	struct events_record told = {
	    .kind = EVENTS_BYPASSED,
	    .took_ns = 42,
	    .cost_ns = UINT64_MAX - 1,
	    .pid = 4711,
	    .return_code = -6,
	    .reason = COUNTER_BYPASSED_too_new,
	    .why = EVENTS_WHY_STALE,
	    .agent = AGENT_FETCH_TIMEOUT,
	    .has_key = true,
	    .is_cut = true,
	    .key = {0xc7, 1},
	    .parts = {[EVENTS_DETAIL] = {"inc/\"v\xff.h", 9},
	              [EVENTS_REFUSAL] = {"the file v.h", 12},
	              [EVENTS_ABOUT] = {"\0about", 6}},
	};
	struct events events;
	struct events_record *record;

	counters_add(HITS, 3);
	cr_assert_eq(events_tell(&told, EVENTS_WHEN_DUE), 0);
	events = get();
	record = events.records;
	cr_assert_eq(events.count, 1);
	cr_expect_eq(events.counts[HITS], 3);
	cr_expect(record->kind == told.kind &&
	          llabs((int64_t)(record->when_ns / 1000000000) - (int64_t)time(NULL)) < 100 && record->took_ns == 42);
	cr_expect(record->cost_ns == told.cost_ns && record->pid == 4711 && record->return_code == -6);
	cr_expect(record->reason == told.reason && record->why == told.why && record->agent == told.agent);
	cr_expect(record->has_key && record->is_cut && memcmp(record->key, told.key, sizeof(told.key)) == 0);
	for (size_t i = EVENTS_DETAIL; i < EVENTS_PARTS; i++) {
		cr_expect_eq(record->parts[i].size, told.parts[i].size);
		cr_expect_arr_eq(record->parts[i].bytes, told.parts[i].bytes, told.parts[i].size);
	}
	events_free(&events);
}

Test(events, a_flipped_bit_anywhere_loses_one_record)
{
	struct events_record record;
	size_t size, at;
	uint8_t *bytes;

	for (uint64_t i = 1; i <= 3; i++) {
		cr_assert_eq(tell(i, 20), 0);
	}
	bytes = bytes_of(file, &size);
	for (size_t bit = 0; bit < 8 * size; bit++) {
		unsigned found = 0;

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		for (at = 0; events_next(bytes, size, &at, &record);) {
			found++;
		}
		cr_assert_eq(found, 2, "bit %zu", bit);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	free(bytes);
}

Test(events, a_cut_anywhere_loses_one_record_and_nothing_is_read_past_the_end)
{
	struct events_record record;
	size_t size;
	uint8_t *bytes;

	for (uint64_t i = 1; i <= 3; i++) {
		cr_assert_eq(tell(i, 20), 0);
	}
	bytes = bytes_of(file, &size);
	for (size_t cut = 0; cut <= size; cut++) {
		uint8_t *copy = malloc(cut + 1); /* the sanitizer notices a read behind it */
		size_t at = 0, found = 0;

		memcpy(copy, bytes, cut);
		while (events_next(copy, cut, &at, &record)) {
			found++;
		}
		cr_assert_eq(found, cut / (size / 3), "%zu bytes", cut);
		free(copy);
	}
	free(bytes);
}

Test(events, a_torn_record_and_foreign_bytes_are_skipped)
{
	int fd;

	cr_assert_eq(tell(1, 20), 0);
	cr_assert_eq(truncate(file, size_of(file) - 3), 0);
	cr_assert_eq(tell(2, 20), 0);
	fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
	cr_assert_eq(write(fd, "NVCEVENTNVC", 11), 11);
	close(fd);
	cr_assert_eq(tell(3, 20), 0);
	cr_expect_eq(total(MISSES), 2);
}

Test(events, counts_begin_anew_at_zero_and_calls_stay)
{
	struct events events;

	cr_expect_eq(events_zero(&directory), 0);
	cr_expect_eq(access(root, F_OK), -1);
	roll();
	roll();
	cr_assert_eq(events_zero(&directory), 0);
	cr_expect_eq(total(MISSES), 0);
	cr_assert_eq(tell(7, 0), 0);
	events = get();
	cr_expect_eq(events.counts[MISSES], 1);
	cr_expect(llabs((int64_t)events.since_ns / 1000000000 - (int64_t)time(NULL)) < 100);
	cr_expect_gt(events.count, 1);
	events_free(&events);
	roll();
	roll();
	events = get();
	cr_expect_lt(events.counts[MISSES], 400); /* of two files, not of four */
	events_free(&events);
}

/* ---- files ---- */

Test(events, directories_and_files_are_private_whatever_the_umask)
{
	static const mode_t masks[] = {0, 022, 077};

	for (size_t i = 0; i < COUNT(masks); i++) {
		struct stat found;
		mode_t before = umask(masks[i]);

		snprintf(root, sizeof(root), "%s/mask%zu", own_directory, i);
		name_files();
		events_fork_child(); /* like another process, which creates a missing directory */
		roll();
		roll();
		cr_assert_eq(tell(1, 0), 0);
		umask(before);
		cr_assert_eq(stat(root, &found), 0);
		cr_expect_eq(found.st_mode & 07777, 0700, "root, umask %o", masks[i]);
		for (const char *const *name = (const char *const[]){file, old, NULL}; *name; name++) {
			cr_assert_eq(stat(*name, &found), 0);
			cr_expect_eq(found.st_mode & 07777, 0600, "%s, umask %o", *name, masks[i]);
		}
	}
}

Test(events, a_group_uses_them_together_if_shared_is_set)
{
	struct stat found;

	directory.shared = true;
	events_open(&directory, getpid());
	roll();
	roll();
	cr_assert_eq(tell(1, 0), 0);
	cr_assert_eq(stat(root, &found), 0);
	cr_expect_eq(found.st_mode & 07777, 02770);
	for (const char *const *name = (const char *const[]){file, old, NULL}; *name; name++) {
		cr_assert_eq(stat(*name, &found), 0);
		cr_expect_eq(found.st_mode & 07777, 0660, "%s", *name);
	}
}

Test(events, a_root_that_others_can_write_is_not_used)
{
	snprintf(root, sizeof(root), "%s/open", own_directory);
	cr_assert_eq(mkdir(root, 0700), 0);
	cr_assert_eq(chmod(root, 0702), 0);
	cr_expect_eq(count(MISSES, 1, EVENTS_NOW), -EPERM);
	cr_expect_eq(tell(1, 0), -EPERM);
	cr_expect_eq(rmdir(root), 0, "something was written");
}

Test(events, a_file_that_others_can_write_is_neither_written_nor_read)
{
	off_t before;

	cr_assert_eq(count(MISSES, 1, EVENTS_NOW), 0);
	cr_assert_eq(chmod(file, 0602), 0);
	before = size_of(file);
	events_fork_child();
	cr_expect_eq(count(MISSES, 1, EVENTS_NOW), -EPERM);
	cr_expect_eq(size_of(file), before);
	cr_expect_eq(total(MISSES), 0);
}

/* ---- rolling over ---- */

Test(events, rolling_over_keeps_all_counts_and_the_newest_calls)
{
	struct events events;
	uint64_t last = 0;

	counters_add(HITS, 17);
	for (uint64_t i = 1; i <= 15000; i++) {
		tell_patiently(i, 100);
		cr_assert_leq(size_of(file), (off_t)EVENTS_BYTES);
		cr_assert_leq(size_of(old), (off_t)(EVENTS_BYTES + EVENTS_CARRIED_BYTES));
	}
	events = get();
	cr_expect_eq(events.counts[MISSES], 15000);
	cr_expect_eq(events.counts[HITS], 17);
	cr_assert_gt(events.count, 1000);
	for (size_t i = 0; i < events.count; i++) {
		cr_assert(i == 0 || events.records[i].took_ns == last + 1);
		last = events.records[i].took_ns;
	}
	cr_expect_eq(last, 15000);
	events_free(&events);
}

/* The number of records in a file, each of which is a miss in these tests. */
static uint64_t records_in(const char *path)
{
	struct events_record record;
	size_t size, at = 0;
	void *bytes = bytes_of(path, &size);
	uint64_t number = 0;

	while (events_next(bytes, size, &at, &record)) {
		number++;
	}
	free(bytes);
	return number;
}

Test(events, a_process_that_dies_while_it_rolls_over_loses_and_doubles_nothing)
{
	char kept[4300];
	uint64_t misses, newest = 0;

	snprintf(kept, sizeof(kept), "%s/v1/kept", root);
	roll();
	roll();
	cr_assert_eq(link(old, kept), 0); /* the file that is carried next */
	roll();
	if (access(file, F_OK) == 0) {
		newest = records_in(file);
		cr_assert_eq(unlink(file), 0);
	}
	/* as it was before the last step: events carries events.old, and has its name still */
	cr_assert_eq(rename(old, file), 0);
	cr_assert_eq(rename(kept, old), 0);
	misses = counters_here(MISSES) - newest;
	cr_expect_eq(total(MISSES), misses, "%lu %lu %lu", total(MISSES), misses, newest);
	roll();
	roll();
	cr_expect_eq(total(MISSES), counters_here(MISSES) - newest);
}

Test(events, a_roll_over_does_not_replace_a_file_that_is_not_ours)
{
	roll();
	cr_assert(file_write(old, "My thesis, chapter one.\n", 24));
	for (int i = 0; i < 300; i++) {
		(void)tell(1, 10000);
		cr_assert_leq(size_of(file), (off_t)EVENTS_BYTES);
	}
	usleep(EVENTS_GRACE_NS / 1000 + 1000);
	cr_expect_eq(tell(1, 10000), -EFBIG);
	cr_expect_eq(size_of(old), 24);
	cr_assert_eq(unlink(old), 0);
	tell_patiently(1, 10000);
	cr_expect_geq(total(MISSES), 300); /* those that had no room were in a later record */
}

Test(events, nothing_is_appended_to_a_file_that_is_not_ours)
{
	int home;

	cr_assert_eq(directory_open(&directory, DIRECTORY_MAKE, &home), 0);
	close(home);
	cr_assert(file_write(file, "My thesis, chapter one.\n", 24));
	cr_assert_eq(chmod(file, 0600), 0);
	cr_expect_eq(tell(1, 0), -EPERM);
	cr_expect_eq(size_of(file), 24);
}

Test(events, a_lock_of_another_process_stops_the_roll_over_and_no_record)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd;

	cr_assert_eq(tell(1, 0), 0);
	fd = open(file, O_RDWR | O_CLOEXEC);
	cr_assert_eq(fcntl(fd, F_OFD_SETLK, &whole), 0);
	for (int i = 0; i < 60; i++) {
		cr_assert_eq(tell(1, 10000), 0);
	}
	cr_expect_eq(access(old, F_OK), -1);
	close(fd);
	cr_assert_eq(tell(1, 10000), 0);
	cr_expect_eq(access(old, F_OK), 0);
	cr_expect_eq(total(MISSES), 62);
}

Test(events, a_process_that_ends_has_room_for_its_counts_in_a_full_file)
{
	cr_assert(tell(1, 0) == 0 && file_write(old, "My thesis.\n", 11)); /* so that it cannot be rolled over */
	cr_assert_eq(truncate(file, EVENTS_BYTES - EVENTS_SPARE), 0);
	cr_expect(tell(1, 0) == -EFBIG && count(HITS, 5, EVENTS_NOW) == 0 && total(HITS) == 5);
}

/* SIGXFSZ is not ignored, so it would end the child. */
static int tell_beyond_limit(void)
{
	struct rlimit limit = {.rlim_cur = 4000, .rlim_max = RLIM_INFINITY};
	int error = 0;

	events_fork_child();
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < 100; i++) {
		error = tell(1, 100);
	}
	if (error != -EFBIG || size_of(file) > 4000) {
		return 1;
	}
	limit.rlim_cur = RLIM_INFINITY;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	return tell(1, 100) != 0;
}

Test(events, a_limit_of_file_sizes_ends_no_process_and_loses_no_count)
{
	cr_assert_eq(tell(1, 0), 0);
	cr_assert_eq(in_child(tell_beyond_limit()), 0);
	cr_expect_eq(total(MISSES), 102);
}

/* Each try fails for ever if the file has no room for what a roll-over carries. */
static int fill_within_limit(void)
{
	const struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};

	events_fork_child();
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < 300; i++) {
		tell_patiently(1, 10000);
	}
	return 0;
}

Test(events, a_limit_of_one_mebibyte_leaves_room_to_roll_over, .timeout = 120)
{
	cr_assert_eq(in_child(fill_within_limit()), 0);
	cr_expect_eq(total(MISSES), 300);
}

/* ---- many processes ---- */

enum { PROCESSES = 8, KILLED = 40, CALLS = 100000, CALL_BYTES = 600 };

/* What a process has begun and done. Its parent reads that after the process was killed. */
struct progress {
	_Atomic uint64_t begun, done;
};

static void tell_many(struct progress *progress, uint64_t calls)
{
	events_fork_child();
	for (uint64_t i = 0; i < calls; i++) {
		progress->begun++;
		tell_patiently(1, CALL_BYTES);
		progress->done++;
	}
	_exit(0);
}

static pid_t start_telling(struct progress *progress, uint64_t calls)
{
	pid_t child = fork();

	if (child == 0) {
		tell_many(progress, calls);
	}
	return child;
}

/* Reads, also while the files are written and rolled over. Returns how many calls were certainly recorded before. */
static uint64_t expect_sound_total(const struct progress *progress)
{
	uint64_t begun = 0, done = 0, misses;

	for (int i = 0; i < PROCESSES + KILLED; i++) {
		done += progress[i].done;
	}
	misses = total(MISSES);
	for (int i = 0; i < PROCESSES + KILLED; i++) {
		begun += progress[i].begun;
	}
	cr_assert(done <= misses && misses <= begun, "%lu recorded, %lu done, %lu begun", misses, done, begun);
	return done;
}

/* 100,000 calls of 600 bytes fill 114 files. */
Test(events, a_hundred_thousand_calls_of_many_processes_are_counted_exactly_although_some_are_killed, .timeout = 300)
{
	struct progress *progress = mmap(NULL, (PROCESSES + KILLED) * sizeof(*progress), PROT_READ | PROT_WRITE,
	                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t children[PROCESSES];
	uint64_t done;

	cr_assert_neq(progress, MAP_FAILED);
	for (int i = 0; i < PROCESSES; i++) {
		children[i] = start_telling(&progress[i], CALLS / PROCESSES);
	}
	for (int i = PROCESSES; i < PROCESSES + KILLED; i++) {
		pid_t child = start_telling(&progress[i], CALLS);

		while (progress[i].done < 20 + (uint64_t)i) {
			expect_sound_total(progress);
		}
		cr_assert_eq(kill(child, SIGKILL), 0);
		(void)exit_of(child);
	}
	for (int i = 0; i < PROCESSES; i++) {
		cr_assert_eq(exit_of(children[i]), 0);
	}
	done = expect_sound_total(progress);
	cr_expect_geq(done, CALLS);
	cr_expect_gt(done * CALL_BYTES / EVENTS_ROLL, 50);
}
