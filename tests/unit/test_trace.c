/* SPDX-License-Identifier: MIT */
#include "keygen/trace.h"
#include "tests/unit/support.h"

static struct trace trace;

static void begin(void)
{
	trace_init(&trace, 1234);
}

static void end(void)
{
	trace_free(&trace);
}

TestSuite(trace, .init = begin, .fini = end);

static struct trace_event present(enum trace_kind kind, const char *path, uint64_t inode)
{
	return (struct trace_event){
	    .kind = kind, .path = path, .stamp = {.device = 1, .inode = inode, .mode = S_IFREG}};
}

static const struct trace_event *add(struct trace_event event)
{
	return trace_add(&trace, &event);
}

Test(trace, stores_a_copy_of_the_path)
{
	char path[] = "include/a.h";
	const struct trace_event *kept = add(present(TRACE_OPEN, path, 7));

	path[0] = 'X';
	cr_assert_str_eq(kept->path, "include/a.h");
	cr_assert_eq(kept->stamp.inode, 7);
	cr_assert_eq(trace_opened(&trace, "include/a.h"), kept);
}

Test(trace, stores_equal_events_once_at_their_first_position)
{
	const struct trace_event *first = add(present(TRACE_PROBE, "a.h", 1));

	add(present(TRACE_PROBE, "b.h", 2));
	cr_assert_eq(add(present(TRACE_PROBE, "a.h", 1)), first);
	cr_assert_eq(trace.count, 2);
	cr_assert_str_eq(trace.events[0].path, "a.h");
	cr_assert_str_eq(trace.events[1].path, "b.h");
}

Test(trace, events_that_differ_in_kind_outcome_stamp_or_digest_are_distinct)
{
	struct trace_event event = present(TRACE_OPEN, "a.h", 1);

	add(event);
	event.kind = TRACE_PROBE;
	add(event);
	event.kind = TRACE_OPEN;
	event.stamp.mtime_ns = 5;
	add(event);
	event.digest.bytes[31] = 1;
	add(event);
	add((struct trace_event){.kind = TRACE_OPEN, .path = "a.h", .error = ENOENT});
	add((struct trace_event){.kind = TRACE_OPEN, .path = "a.h", .error = EACCES});
	cr_assert_eq(trace.count, 6);
}

Test(trace, finds_the_open_that_succeeded_and_no_other)
{
	add(present(TRACE_PROBE, "a.h", 1));
	add((struct trace_event){.kind = TRACE_OPEN, .path = "b.h", .error = ENOENT});
	cr_assert_null(trace_opened(&trace, "a.h"));
	cr_assert_null(trace_opened(&trace, "b.h"));
	add(present(TRACE_OPEN, "b.h", 9));
	cr_assert_eq(trace_opened(&trace, "b.h")->stamp.inode, 9);
}

Test(trace, a_failed_open_counts_as_opened_and_a_probe_does_not)
{
	add(present(TRACE_PROBE, "a.h", 1));
	cr_assert_not(trace_opened_any(&trace));
	add((struct trace_event){.kind = TRACE_OPEN, .path = "b.h", .error = ENOENT});
	cr_assert(trace_opened_any(&trace));
}

Test(trace, thousands_of_events_are_distinct)
{
	char path[64];

	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 20000; i++) {
			snprintf(path, sizeof(path), "/usr/include/part%u/header%u.h", i % 97, i);
			cr_assert_not_null(add(present(i % 2 ? TRACE_OPEN : TRACE_PROBE, path, i)));
		}
	}
	cr_assert_eq(trace.count, 20000);
	for (unsigned i = 1; i < 20000; i += 2) {
		snprintf(path, sizeof(path), "/usr/include/part%u/header%u.h", i % 97, i);
		cr_assert_eq(trace_opened(&trace, path)->stamp.inode, i);
		cr_assert_str_eq(trace.events[i].path, path);
	}
}

Test(trace, stores_a_path_longer_than_any_chunk)
{
	static char path[100000];

	memset(path, 'x', sizeof(path) - 1);
	cr_assert_str_eq(add(present(TRACE_OPEN, path, 1))->path, path);
	cr_assert_str_eq(add(present(TRACE_OPEN, "short", 2))->path, "short");
}

Test(trace, an_event_without_a_path_fails_the_trace)
{
	cr_assert_null(add((struct trace_event){.kind = TRACE_PROBE}));
	cr_assert(trace.failed);
	cr_assert_null(add(present(TRACE_PROBE, "a.h", 1)));
}

Test(trace, stores_each_variable_once_in_order)
{
	char name[16];

	trace_asked(&trace, "PWD");
	trace_asked(&trace, "TZ");
	trace_asked(&trace, "PWD");
	cr_assert_eq(trace.asked_count, 2);
	cr_assert_str_eq(trace.asked[0], "PWD");
	cr_assert_str_eq(trace.asked[1], "TZ");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "V%d", i);
		trace_asked(&trace, name);
	}
	cr_assert_eq(trace.asked_count, 202);
	cr_assert_str_eq(trace.asked[201], "V199");
}

static void *taint_bit(void *number)
{
	static const uint32_t bits[] = {TAINT_WRITE, TAINT_OTHER_THREAD, TAINT_TOO_NEW};

	for (int i = 0; i < 1000; i++) {
		trace_taint(&trace, bits[(uintptr_t)number]);
	}
	return NULL;
}

Test(trace, collects_the_taints_of_all_threads)
{
	pthread_t threads[3];

	start_threads(threads, 3, taint_bit);
	join_threads(threads, 3);
	cr_assert_eq(atomic_load(&trace.tainted), TAINT_WRITE | TAINT_OTHER_THREAD | TAINT_TOO_NEW);
}

Test(trace, the_first_path_of_each_taint_is_recorded)
{
	char path[] = "new.h";

	trace_taint(&trace, TAINT_WRITE);
	trace_taint_by(&trace, TAINT_TOO_NEW | TAINT_TIME_MACRO, path);
	trace_taint_by(&trace, TAINT_TOO_NEW | TAINT_UNREADABLE, "later.h");
	trace_taint_by(&trace, TAINT_PROCESS, NULL);
	memset(path, 'x', sizeof(path) - 1);
	cr_assert_str_eq(trace_culprit(&trace, TAINT_TOO_NEW), "new.h");
	cr_assert_str_eq(trace_culprit(&trace, TAINT_TIME_MACRO), "new.h");
	cr_assert_str_eq(trace_culprit(&trace, TAINT_UNREADABLE | TAINT_WRITE), "later.h");
	cr_assert_null(trace_culprit(&trace, TAINT_WRITE | TAINT_PROCESS));
	cr_assert_eq(atomic_load(&trace.tainted),
	             TAINT_WRITE | TAINT_TOO_NEW | TAINT_TIME_MACRO | TAINT_UNREADABLE | TAINT_PROCESS);
	trace_free(&trace);
	cr_assert_null(trace_culprit(&trace, TAINT_TOO_NEW));
}

Test(trace, a_stamp_contains_nanoseconds_and_the_file_type)
{
	struct stat stat = {.st_dev = 3, .st_ino = 4, .st_size = 5, .st_mode = S_IFDIR | 0755};
	struct file_stamp stamp;

	stat.st_mtim = (struct timespec){.tv_sec = 12, .tv_nsec = 34};
	stat.st_ctim = (struct timespec){.tv_sec = -1, .tv_nsec = 999999999};
	file_stamp_from(&stat, &stamp);
	cr_assert_eq(stamp.device, 3);
	cr_assert_eq(stamp.inode, 4);
	cr_assert_eq(stamp.size, 5);
	cr_assert_eq(stamp.mtime_ns, INT64_C(12000000034));
	cr_assert_eq(stamp.ctime_ns, -1);
	cr_assert_eq(stamp.mode, S_IFDIR | 0755);
}

Test(trace, a_stamp_of_an_impossible_time_is_clamped)
{
	struct stat stat = {.st_ino = 1};
	struct file_stamp stamp;

	stat.st_mtim.tv_sec = INT64_MAX;
	stat.st_ctim.tv_sec = INT64_MIN;
	file_stamp_from(&stat, &stamp);
	cr_assert_eq(stamp.mtime_ns, INT64_MAX);
	cr_assert_eq(stamp.ctime_ns, INT64_MIN);
}
