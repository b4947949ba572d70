/* SPDX-License-Identifier: MIT */
#include "cache/journal.h"
#include "cache/json.h"
#include "cli/explain/explanation.h"
#include "interpose/compile/event.h"
#include "interpose/compiler.h"
#include "keygen/about.h"
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

/* Writes the smallest line that is a record of this time, with a text of `size` bytes. */
static size_t spell(char ret_line[JOURNAL_RECORD_BYTES + 1], uint64_t number, size_t size)
{
	static char filler[JOURNAL_RECORD_BYTES];
	struct json json = json_fixed(ret_line, JOURNAL_RECORD_BYTES + 1, JSON_BYTES_KEPT);

	memset(filler, 'x', sizeof(filler));
	json_begin_object(&json, NULL);
	json_number(&json, "nvrtccache", 1);
	json_number(&json, "time_ns", number);
	json_string(&json, "outcome", "not_kept");
	json_text(&json, "detail", filler, size);
	json_end(&json);
	json_end_line(&json);
	cr_assert(!json.failed);
	return json.size;
}

static int put(uint64_t number, size_t size)
{
	char line[JOURNAL_RECORD_BYTES + 1];
	size_t line_size = spell(line, number, size);

	return journal_write(&directory, line, line_size);
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

static const struct compiler compiler = {.name = "nvrtc", .title = "NVRTC", .unnamed = "default_program"};

static void begin_event(struct event *ret_event, enum event_kind kind, enum counter reason)
{
	event_begin(ret_event, &compiler, NULL, "dlsym", "a.cu", 0);
	event_end(ret_event, kind, reason, NULL);
	about_begin(&ret_event->about);
}

/* Writes the event and frees its request; the record that is read back is the only one. */
static struct journal told(struct event *event)
{
	static char line[JOURNAL_RECORD_BYTES];
	size_t size = event_spell(event, UINT64_MAX, line);

	(void)unlink(file);
	cr_assert_eq(journal_write(&directory, line, size), 0);
	cr_expect_eq(memcmp(line, JOURNAL_BEGINNING, strlen(JOURNAL_BEGINNING)), 0);
	cr_expect_eq(memchr(line, '\n', size), line + size - 1);
	stream_free(&event->about);
	struct journal journal = get();

	cr_assert_eq(journal.count, 1);
	return journal;
}

static bool is_span(struct span span, const void *bytes, size_t size)
{
	return span.size == size && memcmp(span.bytes, bytes, size) == 0;
}

Test(journal, an_event_is_read_back)
{
	struct event event;
	struct journal journal;
	const struct journal_record *record;

	begin_event(&event, EVENT_NOT_KEPT, COUNTER_NOT_KEPT_too_new);
	event.compile_ns = UINT64_MAX;
	event.call.ns = 42;
	event.why = EVENT_WHY_STALE;
	event.agent = AGENT_FETCH_TIMEOUT;
	event.return_code = -6;
	event.has_key = true;
	memset(event.key, 0xc7, sizeof(event.key));
	strcpy(event.detail, "inc/\"v\xff.h");
	strcpy(event.refusal, "the file v.h");
	journal = told(&event);
	record = &journal.records[0];
	cr_expect(record->when_ns == UINT64_MAX && record->cost_ns == UINT64_MAX);
	cr_expect(record->took_ns == 42 && record->pid == (uint32_t)getpid());
	cr_expect(record->outcome == JOURNAL_NOT_KEPT && record->agent == AGENT_FETCH_TIMEOUT);
	cr_expect(record->has_key && record->is_stale && record->has_failed && !record->is_unfit && !record->is_cut);
	cr_expect_eq(memcmp(record->key, event.key, sizeof(event.key)), 0);
	cr_expect(is_span(record->reason, "too_new", 7) && is_span(record->detail, "inc/\"v\xff.h", 9));
	cr_expect(is_span(record->refusal, "the file v.h", 12));
	journal_free(&journal);
}

Test(journal, what_an_event_does_not_say_is_not_in_its_record)
{
	struct event event;
	struct journal journal;
	const struct journal_record *record;

	begin_event(&event, EVENT_BYPASSED, COUNTER_NONE);
	event.call.ns = 42;
	journal = told(&event);
	record = &journal.records[0];
	cr_expect(record->outcome == JOURNAL_PASSED && record->cost_ns == 42 && record->agent == AGENT_FETCH_NOT_ASKED);
	cr_expect(!record->has_key && !record->is_stale && !record->has_failed && !record->is_unfit && !record->is_cut);
	cr_expect(record->reason.size == 0 && record->detail.size == 0 && record->refusal.size == 0);
	journal_free(&journal);
}

Test(journal, every_byte_of_a_request_is_kept)
{
	const struct span content = {"text", 4};
	struct stream about = STREAM_EMPTY;
	char text[3 * 256];
	struct event event;
	struct journal journal;

	for (size_t i = 0; i < sizeof(text); i++) { /* alone, and before and after others that are not UTF-8 */
		text[i] = (char)(i < 256 ? i : (i - 256) % 2 ? 0xe2 : (i - 256) / 2);
	}
	begin_event(&event, EVENT_STORED, COUNTER_NONE);
	for (unsigned kind = ABOUT_COMPILER; kind <= ABOUT_BUILD; kind++) {
		if (kind != ABOUT_PART && kind != ABOUT_ARTIFACT) {
			about_sized(&event.about, (enum about_kind)kind, text, kind == ABOUT_BOUND ? sizeof(text) : 40);
		}
	}
	about_part_of(&event.about, "header", &(struct span){text, sizeof(text)}, &content);
	about_part(&event.about, "", &content);
	stream_bytes(&about, event.about.bytes, event.about.size);
	journal = told(&event);
	cr_expect(is_span(journal.records[0].about, about.bytes, about.size));
	stream_free(&about);
	journal_free(&journal);
}

static int count_fact(const struct about_fact *fact, void *context)
{
	cr_expect(fact->size >= 1000 && fact->text[0] == 'a' + *(char *)context);
	(*(char *)context)++;
	return 0;
}

/* A byte takes one, two or six in JSON. */
Test(journal, a_request_without_room_loses_its_last_facts)
{
	static const char bytes[] = {'x', '"', '\xff'};

	for (size_t i = 0; i < 3 * 1000; i++) {
		char text[2000], facts = 0;
		struct event event;
		struct journal journal;

		memset(text, bytes[i % 3], sizeof(text));
		begin_event(&event, EVENT_STORED, COUNTER_NONE);
		for (text[0] = 'a'; text[0] < 'a' + 16; text[0]++) {
			about_sized(&event.about, ABOUT_OPTION, text, 1000 + i / 3);
		}
		journal = told(&event);
		cr_expect_eq(
		    about_read(journal.records[0].about.bytes, journal.records[0].about.size, count_fact, &facts), 0);
		cr_expect(journal.records[0].is_cut == (facts < 16) && facts >= 1);
		cr_expect_geq(size_of(file) + 6 * (1000 + (off_t)i / 3) + 100, (off_t)JOURNAL_RECORD_BYTES);
		journal_free(&journal);
	}
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
	char line[JOURNAL_RECORD_BYTES + 1];
	size_t room = JOURNAL_RECORD_BYTES - spell(line, 1, 0);

	cr_expect_eq(put(1, room), 0);
	cr_expect_eq(put(1, room + 1), -EINVAL);
	cr_expect_eq(journal_write(&directory, line, 0), -EINVAL);
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
	off_t one;

	cr_assert_eq(put(1, 50), 0);
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

/* A line has no checksum, so some flips are not found; what comes after the line is not concerned. */
Test(journal, a_flipped_bit_anywhere_loses_or_changes_one_record)
{
	size_t lost = 0, bits = 0;
	off_t one;
	int fd;

	cr_assert_eq(put(1, 20), 0);
	one = size_of(file);
	cr_assert_eq(put(2, 20), 0);
	fd = open(file, O_RDWR);
	for (; bits < 8 * (size_t)one; bits++) {
		unsigned char byte, other;
		struct journal journal;

		cr_assert_eq(pread(fd, &byte, 1, (off_t)bits / 8), 1);
		other = byte ^ (unsigned char)(1u << (bits % 8));
		cr_assert_eq(pwrite(fd, &other, 1, (off_t)bits / 8), 1);
		journal = get();
		cr_assert(journal.count == 1 || journal.count == 2, "bit %zu", bits);
		cr_expect_eq(journal.records[journal.count - 1].when_ns, 2);
		cr_expect_eq(journal.records[journal.count - 1].detail.size, 20);
		lost += journal.count == 1;
		journal_free(&journal);
		cr_assert_eq(pwrite(fd, &byte, 1, (off_t)bits / 8), 1);
	}
	cr_expect_gt(lost, bits / 3);
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

/* The format before this one was not text; its records had this magic. */
Test(journal, a_journal_of_the_earlier_format_is_renamed_and_its_records_are_skipped)
{
	FILE *earlier = fopen(file, "w");

	fputs("NVCJRNAL\1\n{\"nvrtccache\":1,", earlier);
	fclose(earlier);
	(void)chmod(file, 0600);
	cr_expect_eq(count(), 0);
	cr_expect_eq(journal_check(&directory), 0);
	cr_expect_eq(put(1, 0), 0);
	cr_expect_eq(size_of(old), 26);
	cr_expect_eq(put(2, 0), 0);
	cr_expect_eq(count(), 2);
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
		struct journal journal;

		memcpy(pages + page - left, bytes, left);
		cr_expect_eq(journal_parse(pages + page - left, left, &journal), 0);
		cr_expect_eq(journal.count, 0);
		free(journal.records);
	}
	(void)munmap(pages, 2 * page);
}

static void is_read(const char *line, size_t records)
{
	FILE *stream = fopen(file, "w");

	fputs(line, stream);
	fclose(stream);
	(void)chmod(file, 0600);
	cr_expect_eq(count(), records, "%s", line);
}

Test(journal, records_of_unknown_outcomes_are_skipped)
{
	is_read("{\"nvrtccache\":1,\"outcome\":\"miss\"}\n{\"nvrtccache\":1,\"outcome\":\"not_kept\"}\n"
	        "{\"nvrtccache\":1,\"outcome\":\"bypassed\"}\n",
	        3);
	is_read("{\"nvrtccache\":1,\"outcome\":\"hit\"}\n", 0);
	is_read("{\"nvrtccache\":1,\"outcome\":2}\n", 0);
	is_read("{\"nvrtccache\":1,\"time_ns\":2}\n", 0);
}

Test(journal, lines_that_are_not_records_are_skipped)
{
	static const char sound[] = "{\"nvrtccache\":1,\"outcome\":\"miss\"}";

	is_read(sound, 0);
	is_read("{\"nvrtccache\":2,\"outcome\":\"miss\"}\n", 0);
	is_read("{\"outcome\":\"miss\",\"nvrtccache\":1}\n", 0);
	is_read("{\"nvrtccache\":1,\"outcome\":\"miss\"} \n", 0);
	is_read("{\"nvrtccache\":1,\"outcome\":\"miss\",\"detail\":\"\xff\"}\n", 0);
	is_read("[{\"nvrtccache\":1,\"outcome\":\"miss\"}]\n", 0);
	is_read("torn {\"nvrtccache\":1,\"outcome\":\"miss\"}\n", 1);
}

/* In a shared cache, another user may have written it. */
Test(journal, a_record_with_other_values_is_read)
{
	is_read("{\"nvrtccache\":1,\"outcome\":\"miss\",\"outcome\":0,\"time_ns\":\"1\",\"took\":-1,\"cost\":1e9,"
	        "\"pid\":99999999999999999999999,\"key\":\"zz\",\"reason\":[],\"detail\":{},\"refusal\":null,"
	        "\"agent\":\"\\ud83d\\uDE00\",\"about\":[0,[],{},{\"part\":\"p\"},{\"artifact\":\"\"},{\"option\":{}},"
	        "{\"option\":\"\\\"\\\\\",\"option\":\"\\n\"},{\"digest\":\"0123456789abcdef\"}],\"cut\":1}\n",
	        1);
	is_read("{\"nvrtccache\":1,\"outcome\":\"miss\",\"about\":{\"option\":\"x\"},\"about\":\"x\"}\n", 1);
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
