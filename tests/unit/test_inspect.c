/* SPDX-License-Identifier: MIT */
/* inspect: the verdict on a file follows from what a reader of entries rejects; foreign files are recognized */
#include "store_fixture.h"

#include "cache/tools/inspect.h"

TestSuite(inspect, .init = fixture_open, .fini = fixture_close);

struct reader {
	const char *wrong;
	bool other;
	unsigned files;
	enum inspect_verdict verdict;
	uint64_t results;
};

static const char *judge(void *context, const struct entry *entry, bool *ret_other)
{
	const struct reader *reader = context;

	*ret_other = reader->other;
	return reader->wrong;
}

static int visit(void *context, const struct inspected *file)
{
	struct reader *reader = context;

	reader->files++;
	reader->verdict = file->verdict;
	reader->results = file->results;
	return 0;
}

static void inspect(struct reader *reader)
{
	const struct directory directory = {.path = fixture.root};
	int home;

	cr_assert_eq(directory_open(&directory, DIRECTORY_REACH, &home), 0);
	cr_assert_eq(inspect_shard(&directory, home, fixture_key[0], judge, visit, reader), 0);
	cr_assert_eq(reader->files, 1);
	close(home);
}

static void expect_verdict(const char *wrong, bool other, enum inspect_verdict verdict)
{
	struct reader reader = {.wrong = wrong, .other = other};

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	inspect(&reader);
	cr_assert_eq(reader.verdict, verdict);
	cr_assert_eq(reader.results, verdict == INSPECT_SOUND);
}

STORE_ROW(inspect, an_entry_that_its_reader_accepts_is_sound, expect_verdict(NULL, false, INSPECT_SOUND))
STORE_ROW(inspect, an_entry_that_its_reader_rejects_is_damaged, expect_verdict("unreadable", false, INSPECT_DAMAGED))
STORE_ROW(inspect, an_entry_of_another_version_is_not_damaged, expect_verdict("later", true, INSPECT_OTHER_FORMAT))

Store_test(inspect, a_short_file_is_foreign_or_a_truncated_entry)
{
	struct reader cut = {.wrong = NULL}, foreign = {.wrong = NULL};

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(truncate(fixture.path, 20), 0);
	inspect(&cut);
	cr_assert_eq(cut.verdict, INSPECT_DAMAGED);
	fixture_write(fixture.path, "mine", 4);
	inspect(&foreign);
	cr_assert_eq(foreign.verdict, INSPECT_FOREIGN);
}
