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

Test(trace, an_event_without_a_path_fails_the_trace)
{
	cr_assert_null(add((struct trace_event){.kind = TRACE_PROBE}));
	cr_assert(trace.failed);
	cr_assert_null(add(present(TRACE_PROBE, "a.h", 1)));
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
