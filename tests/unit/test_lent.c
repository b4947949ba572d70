/* SPDX-License-Identifier: MIT */
/* Headers in the host's memory, which are read again before a result is cached. */
#include "interpose/nvrtc/describe.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/scan.h"
#include "interpose/nvrtc/texts.h"
#include "tests/unit/support.h"

#define SIZE ((size_t)1 << 20)

static char *texts[2];
static struct memory_header headers[2];
static struct lent *lent;

static char *map_text(void)
{
	char *text = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(text, MAP_FAILED);
	memset(text, ' ', SIZE);
	return text;
}

static void retake(void)
{
	free(lent);
	cr_assert_eq(lent_take(headers, 2, NULL, &lent), 0);
}

static void set_up(void)
{
	for (int i = 0; i < 2; i++) {
		texts[i] = map_text();
		headers[i] = (struct memory_header){"h.h", texts[i], SIZE};
	}
	memcpy(texts[1] + 77, "/a/path", 7);
	retake();
}

static void tear_down(void)
{
	free(lent);
}

TestSuite(lent, .init = set_up, .fini = tear_down);

static void compare_text(void *context, const char *text, size_t size)
{
	size_t *count = context;

	cr_assert(*count < 2 && size == SIZE && memcmp(text, texts[*count], SIZE) == 0);
	++*count;
}

Test(lent, unchanged_headers_are_read)
{
	size_t count = 0;

	cr_assert_eq(lent_read(lent, compare_text, &count), 0);
	cr_assert_eq(count, 2);
}

static void ignore_text(void *context, const char *text, size_t size)
{
}

static void expect_stale(void)
{
	cr_assert_eq(lent_read(lent, ignore_text, NULL), -ESTALE);
}

Test(lent, changed_headers_are_stale)
{
	texts[1][SIZE - 1] = 'x';
	expect_stale();
}

Test(lent, freed_headers_are_stale)
{
	cr_assert_eq(munmap(texts[1], SIZE), 0);
	expect_stale();
}

/* Returns the taints that texts_read() finds in a program with these headers. */
static unsigned taints(void)
{
	struct program program = {.lent = lent, .findings = SCAN_PATH | SCAN_PLACE};
	const struct call call = {0};
	struct request request = {.traits = 0};
	struct trace trace;
	unsigned found;

	trace_init(&trace, 0);
	stream_field(&program.handle.creation, 1, "", 0);
	texts_read(&program.handle, &call, &request, &trace);
	found = atomic_load(&trace.tainted);
	trace_free(&trace);
	stream_free(&program.handle.creation);
	return found;
}

Test(lent, headers_without_macros_taint_nothing)
{
	cr_assert_eq(taints(), 0);
}

Test(lent, a_time_macro_in_a_large_header_is_found)
{
	memcpy(texts[1] + 1000, "__TIME__", 8);
	retake();
	cr_assert(taints() & TAINT_TIME_MACRO);
}

/* Otherwise the end of one text would be joined with the beginning of the next. */
Test(lent, a_line_splice_at_the_end_of_a_header_does_not_affect_the_next)
{
	memcpy(texts[0] + SIZE - 2, "x\\", 2);
	memcpy(texts[1], "assert(0)", 9);
	retake();
	cr_assert(taints() & TAINT_PATH_MACRO);
}

Test(lent, unreadable_headers_count_as_containing_every_macro)
{
	texts[0][0] = 'x';
	cr_assert(taints() & TAINT_TIME_MACRO);
	cr_assert(taints() & TAINT_PATH_MACRO);
}
