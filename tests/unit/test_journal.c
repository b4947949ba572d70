/* SPDX-License-Identifier: MIT */
#include "cache/journal.h"
#include "tests/unit/support.h"

static char base[4096], root[4200], file[4300], old[4300];
static struct directory directory = {.path = root};

static void make_root(void)
{
	int home;

	cr_assert_eq(directory_open(&directory, DIRECTORY_MAKE, &home), 0);
	close(home);
}

static void set_up(void)
{
	cr_assert(private_directory_make(base, sizeof(base), "journal"));
	snprintf(root, sizeof(root), "%s/cache", base);
	snprintf(file, sizeof(file), "%s/v1/journal", root);
	snprintf(old, sizeof(old), "%s/v1/journal.old", root);
	make_root();
}

static void tear_down(void)
{
	remove_tree(base);
}

TestSuite(journal, .init = set_up, .fini = tear_down);

static struct journal_text text_of(const char *text)
{
	return (struct journal_text){text, strlen(text)};
}

/* Returns a record whose time, and first byte of the key, is `number`. */
static struct journal_record example(uint64_t number, size_t about_size)
{
	static char filler[JOURNAL_RECORD_BYTES];

	return (struct journal_record){
	    .when_ns = number,
	    .cost_ns = 5 * number,
	    .took_ns = 6 * number,
	    .pid = 4711,
	    .outcome = JOURNAL_NOT_KEPT,
	    .has_key = true,
	    .key = {(uint8_t)number},
	    .reason = text_of("too_new"),
	    .detail = text_of("inc/vec.h"),
	    .about = {filler, about_size},
	};
}

static int put(uint64_t number, size_t about_size)
{
	const struct journal_record record = example(number, about_size);

	return journal_write(&directory, &record);
}

static struct journal get(void)
{
	struct journal journal;

	cr_assert_eq(journal_read(&directory, &journal), 0);
	return journal;
}

static size_t count(void)
{
	struct journal journal = get();
	size_t records = journal.count;

	journal_free(&journal);
	return records;
}

static off_t size_of(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 ? found.st_size : -1;
}

Test(journal, a_written_record_is_read_back)
{
	struct journal_record record = example(7, 0);
	struct journal journal;

	record.about = text_of("what it is of");
	record.refusal = text_of("the file v.h");
	record.is_cut = record.is_stale = true;
	cr_assert_eq(journal_write(&directory, &record), 0);
	journal = get();
	cr_assert_eq(journal.count, 1);
	cr_expect_eq(journal.records[0].when_ns, 7);
	cr_expect_eq(journal.records[0].cost_ns, 35);
	cr_expect_eq(journal.records[0].took_ns, 42);
	cr_expect_eq(journal.records[0].pid, 4711);
	cr_expect_eq(journal.records[0].outcome, JOURNAL_NOT_KEPT);
	cr_expect(journal.records[0].has_key && journal.records[0].is_cut && journal.records[0].is_stale);
	cr_expect_eq(memcmp(journal.records[0].key, record.key, sizeof(record.key)), 0);
	cr_expect(journal.records[0].reason.size == 7 && memcmp(journal.records[0].reason.bytes, "too_new", 7) == 0);
	cr_expect(journal.records[0].detail.size == 9 && memcmp(journal.records[0].detail.bytes, "inc/vec.h", 9) == 0);
	cr_expect(journal.records[0].about.size == 13 &&
	          memcmp(journal.records[0].about.bytes, "what it is of", 13) == 0);
	cr_expect(journal.records[0].refusal.size == 12 &&
	          memcmp(journal.records[0].refusal.bytes, "the file v.h", 12) == 0);
	journal_free(&journal);
}

Test(journal, a_missing_directory_is_not_created)
{
	remove_tree(root);
	cr_expect_eq(put(1, 0), -ENOENT);
	cr_expect_eq(access(root, F_OK), -1);
	cr_expect_eq(count(), 0);
}

Test(journal, a_record_of_the_largest_size_is_accepted_and_a_larger_one_rejected)
{
	struct journal_record record = example(1, 0);
	size_t room = journal_room(&record);

	cr_expect_eq(put(1, room), 0);
	cr_expect_eq(put(1, room + 1), -EINVAL);
	cr_expect_eq(size_of(file), (off_t)JOURNAL_RECORD_BYTES);
	cr_expect_eq(count(), 1);
}

Test(journal, files_are_private_whatever_the_umask)
{
	struct stat found;
	mode_t before = umask(0);

	cr_assert_eq(put(1, 0), 0);
	umask(before);
	cr_assert_eq(stat(file, &found), 0);
	cr_expect_eq(found.st_mode & 07777, 0600);
}

Test(journal, a_shared_directory_has_a_shared_journal)
{
	struct stat found;

	remove_tree(root);
	directory.shared = true;
	make_root();
	cr_assert_eq(put(1, 0), 0);
	cr_assert_eq(stat(file, &found), 0);
	cr_expect_eq(found.st_mode & 07777, 0660);
	cr_expect_eq(count(), 1);
	directory.shared = false;
	cr_expect_eq(put(1, 0), -EPERM, "a group may write what we would write to");
}

Test(journal, it_stays_below_its_limit_and_contains_the_newest_records)
{
	struct journal journal;

	for (uint64_t i = 1; i <= 3000; i++) {
		cr_assert_eq(put(i, 1000), 0);
		if (i % 100 == 0) {
			cr_assert_leq(size_of(file) + (size_of(old) < 0 ? 0 : size_of(old)), (off_t)JOURNAL_BYTES);
		}
	}
	journal = get();
	cr_assert_gt(journal.count, 400);
	cr_expect_eq(journal.records[journal.count - 1].when_ns, 3000);
	for (size_t i = 1; i < journal.count; i++) {
		cr_assert_eq(journal.records[i].when_ns, journal.records[i - 1].when_ns + 1);
	}
	journal_free(&journal);
}

Test(journal, a_cut_anywhere_loses_one_record)
{
	struct journal_record first = example(1, 50);
	off_t one;

	cr_assert_eq(journal_write(&directory, &first), 0);
	one = size_of(file);
	for (off_t cut = one; cut < 2 * one; cut++) {
		struct journal journal;

		cr_assert_eq(truncate(file, one), 0);
		cr_assert_eq(put(2, 50), 0);
		cr_assert_eq(truncate(file, cut), 0);
		cr_assert_eq(put(3, 50), 0);
		journal = get();
		cr_assert_eq(journal.count, 2, "cut at %ld", (long)cut);
		cr_expect_eq(journal.records[0].when_ns, 1);
		cr_expect_eq(journal.records[1].when_ns, 3);
		journal_free(&journal);
	}
}

Test(journal, a_flipped_bit_anywhere_loses_one_record)
{
	unsigned char byte, other;
	off_t one;
	int fd;

	cr_assert_eq(put(1, 20), 0);
	one = size_of(file);
	cr_assert_eq(put(2, 20), 0);
	fd = open(file, O_RDWR);
	for (off_t at = 0; at < one; at++) {
		cr_assert_eq(pread(fd, &byte, 1, at), 1);
		other = byte ^ (unsigned char)(1u << (at % 8));
		cr_assert_eq(pwrite(fd, &other, 1, at), 1);
		cr_assert_eq(count(), 1, "byte %ld", (long)at);
		cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
	}
	cr_expect_eq(count(), 2);
	close(fd);
}

Test(journal, a_foreign_file_in_its_place_is_neither_written_nor_moved)
{
	FILE *thesis;

	thesis = fopen(file, "w");
	for (size_t i = 0; i < JOURNAL_BYTES; i += 8) {
		fputs("My book.", thesis);
	}
	fclose(thesis);
	cr_expect_eq(put(1, 0), -EPERM);
	cr_expect_eq(size_of(file), (off_t)JOURNAL_BYTES);
	cr_expect_eq(size_of(old), -1);
	cr_expect_eq(count(), 0);
}

Test(journal, a_directory_in_place_of_the_old_journal_loses_only_new_records)
{
	cr_assert_eq(mkdir(old, 0700), 0);
	cr_assert_eq(put(1, 0), 0);
	cr_assert_eq(truncate(file, JOURNAL_BYTES / 2), 0);
	cr_expect_eq(put(2, 0), -EISDIR);
	cr_expect_eq(count(), 1);
}

/* Several processes write numbered records, and some are killed. The remaining records are whole and in order. */
#define WRITERS 6
#define EACH    400

static int write_all(uint64_t writer)
{
	for (uint64_t i = 1; i <= EACH; i++) {
		if (put(writer * 1000 + i, 900) != 0) {
			return 1;
		}
	}
	return 0;
}

Test(journal, concurrent_rotations_lose_only_the_oldest_records)
{
	uint64_t last[WRITERS] = {0};
	pid_t writers[WRITERS];
	struct journal journal;

	for (size_t i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		cr_assert_geq(writers[i], 0);
		if (writers[i] == 0) {
			_exit(write_all(i));
		}
	}
	for (size_t i = 0; i < WRITERS; i++) {
		cr_expect_eq(exit_of(writers[i]), 0, "writer %zu lost a record", i);
	}
	cr_expect_leq(size_of(file) + size_of(old), (off_t)JOURNAL_BYTES);
	cr_expect_gt(size_of(old), (off_t)JOURNAL_BYTES / 2 - (off_t)(6 * JOURNAL_RECORD_BYTES));
	journal = get();
	for (size_t i = 0; i < journal.count; i++) {
		uint64_t writer = journal.records[i].when_ns / 1000, number = journal.records[i].when_ns % 1000;

		cr_assert_lt(writer, WRITERS);
		cr_assert(last[writer] == 0 || number == last[writer] + 1, "%zu: %zu after %zu", (size_t)writer,
		          (size_t)number, (size_t)last[writer]);
		last[writer] = number;
	}
	for (size_t i = 0; i < WRITERS; i++) {
		cr_expect(last[i] == 0 || last[i] == EACH);
	}
	journal_free(&journal);
}

/* Otherwise several processes could each use the same last free space. */
Test(journal, nothing_is_appended_while_another_process_holds_the_lock)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	off_t before;
	int other;

	cr_assert_eq(put(1, 100), 0);
	before = size_of(file);
	other = open(file, O_RDWR | O_CLOEXEC);
	cr_assert_geq(other, 0);
	skip_unless(fcntl(other, F_OFD_SETLK, &whole) == 0, "needs a file system with locks");
	cr_expect_eq(put(2, 100), -EAGAIN);
	cr_expect_eq(size_of(file), before);
	close(other);
	cr_expect_eq(put(3, 100), 0);
	cr_expect_eq(count(), 2);
}

Test(journal, each_half_is_filled_to_its_last_byte_and_no_further)
{
	for (uint64_t i = 1; size_of(old) < 0; i++) {
		cr_assert_eq(put(i, 10000), 0);
		cr_assert_leq(size_of(file), (off_t)JOURNAL_BYTES / 2);
	}
	cr_expect_leq(size_of(old), (off_t)JOURNAL_BYTES / 2);
	cr_expect_gt(size_of(old), (off_t)JOURNAL_BYTES / 2 - (off_t)JOURNAL_RECORD_BYTES);
}

Test(journal, a_killed_writer_damages_no_record_of_others)
{
	for (unsigned round = 0; round < 20; round++) {
		pid_t child = fork();

		cr_assert_geq(child, 0);
		if (child == 0) {
			for (uint64_t i = 1;; i++) {
				(void)put(i, 9000);
			}
		}
		usleep(1000 + 777 * round);
		kill(child, SIGKILL);
		cr_assert_eq(waitpid(child, NULL, 0), child);
		cr_assert_eq(put(1000000 + round, 100), 0);
	}
	struct journal journal = get();

	cr_expect_eq(journal.records[journal.count - 1].when_ns, 1000019);
	journal_free(&journal);
}

static int take_none(const struct journal_record *record, void *context)
{
	(void)record;
	(void)context;
	cr_expect(false, "there is no whole record");
	return 0;
}

/* The page after the bytes is not readable. */
Test(journal, a_truncated_record_is_not_read_past_its_end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size, left;
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char bytes[JOURNAL_RECORD_BYTES];
	int fd;

	cr_assert_neq(pages, MAP_FAILED);
	cr_assert_eq(mprotect(pages + page, page, PROT_NONE), 0);
	cr_assert_eq(put(1, 50), 0);
	size = (size_t)size_of(file);
	fd = open(file, O_RDONLY);
	cr_assert_eq(read(fd, bytes, sizeof(bytes)), (ssize_t)size);
	close(fd);
	for (left = 1; left < size; left++) {
		memcpy(pages + page - left, bytes, left);
		cr_expect_eq(journal_parse(pages + page - left, left, take_none, NULL), 0);
	}
	(void)munmap(pages, 2 * page);
}

Test(journal, records_of_unknown_outcomes_are_skipped)
{
	struct journal_record record = example(1, 0);

	for (unsigned outcome = 0; outcome <= JOURNAL_PASSED + 1; outcome++) {
		record.outcome = (enum journal_outcome)outcome;
		cr_assert_eq(journal_write(&directory, &record), 0);
	}
	cr_expect_eq(count(), JOURNAL_PASSED - JOURNAL_STORED + 1);
}

Test(journal, without_the_lock_the_journal_is_not_rotated)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd;

	cr_assert_eq(put(1, 0), 0);
	fd = open(file, O_RDWR | O_CLOEXEC);
	cr_assert_eq(fcntl(fd, F_OFD_SETLK, &whole), 0);
	cr_assert_eq(ftruncate(fd, JOURNAL_BYTES / 2), 0);
	cr_expect_eq(put(2, 0), -EAGAIN);
	cr_expect_eq(size_of(old), -1);
	close(fd);
	cr_expect_eq(put(2, 0), 0);
	cr_expect_eq(size_of(old), (off_t)JOURNAL_BYTES / 2);
	cr_expect_eq(count(), 2);
}
