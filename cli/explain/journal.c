/* SPDX-License-Identifier: MIT */
/*
 * The journal, which is written by cache/journal.h and event_spell() (interpose/compile/event.h), is read record by
 * record. In a shared cache, other users can write to it, so each record is checked as a whole before it is used.
 */
#include "cli/explain/explanation.h"

#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/journal.h"
#include "cli/console/json_reader.h"
#include "keygen/about.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static bool take_digits(struct span value, size_t size, uint8_t *ret_bytes)
{
	struct span digits = json_reader_string(value);

	return digits.size == 2 * size && digits_parse(digits.bytes, size, ret_bytes);
}

/* Adds a fact: {"option":"-DN=4"} or {"part":"source","digest":"0123456789abcdef"}. Unknown facts are skipped. */
static void add_fact(struct stream *about, struct span fact)
{
	uint8_t digest[ABOUT_DIGEST_BYTES];
	bool has_digest = take_digits(json_reader_member(fact, "digest"), sizeof(digest), digest);
	unsigned kind = ABOUT_COMPILER;
	struct span text = {NULL, 0};

	while (kind < REQUEST_KINDS && !text.bytes) {
		text = json_reader_decode(json_reader_member(fact, about_kind_name(kind++)));
	}
	if (text.bytes && has_digest) {
		about_part_known(about, digest, text);
	} else if (text.bytes) {
		about_sized(about, (enum about_kind)(kind - 1), text.bytes, text.size);
	}
}

/* Makes the request from its facts. Its memory belongs to the record. */
static struct span take_about(struct span facts)
{
	struct json_reader members = json_reader_members(facts);
	struct stream about = STREAM_EMPTY;
	struct span name, fact;

	about_begin(&about);
	while (json_reader_next(&members, &name, &fact)) {
		add_fact(&about, fact);
	}
	if (about.failed) {
		stream_free(&about);
	}
	return (struct span){about.bytes, about.size};
}

static enum agent_outcome take_agent(struct span value)
{
	unsigned outcome = AGENT_OUTCOME_COUNT - 1;

	while (outcome > AGENT_FETCH_NOT_ASKED &&
	       !span_is(json_reader_string(value), agent_outcome_name((enum agent_outcome)outcome))) {
		outcome--;
	}
	return (enum agent_outcome)outcome;
}

/* Returns false if the record is of an outcome that this version does not know. */
static bool take_outcome(struct span value, enum journal_outcome *ret_outcome)
{
	static const char *const names[] = {
	    [JOURNAL_STORED] = "miss", [JOURNAL_NOT_KEPT] = "not_kept", [JOURNAL_PASSED] = "bypassed"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (span_is(json_reader_string(value), names[i])) {
			*ret_outcome = (enum journal_outcome)i;
			return true;
		}
	}
	return false;
}

static bool take_record(struct span line, struct journal_record *ret_record)
{
	struct span why = json_reader_member(line, "why");
	struct journal_record record = {
	    .when_ns = json_reader_number(json_reader_member(line, "time_ns")),
	    .took_ns = json_reader_number(json_reader_member(line, "took")),
	    .cost_ns = json_reader_number(json_reader_member(line, "cost")),
	    .pid = (uint32_t)json_reader_number(json_reader_member(line, "pid")),
	    .agent = take_agent(json_reader_member(line, "agent")),
	    .is_stale = span_is(why, "\"stale\""),
	    .is_unfit = span_is(why, "\"unfit\""),
	    .has_failed = !span_is(json_reader_member(line, "result"), "0"),
	    .is_cut = span_is(json_reader_member(line, "cut"), "true"),
	    .reason = json_reader_member(line, "reason"),
	    .detail = json_reader_member(line, "detail"),
	    .refusal = json_reader_member(line, "refusal"),
	    .about = json_reader_member(line, "about"),
	};

	if (!take_outcome(json_reader_member(line, "outcome"), &record.outcome)) {
		return false;
	}
	record.has_key = take_digits(json_reader_member(line, "key"), sizeof(record.key), record.key);
	record.cost_ns = record.cost_ns ? record.cost_ns : record.took_ns;
	/* last, because a decoded text is not JSON */
	record.reason = json_reader_decode(record.reason);
	record.detail = json_reader_decode(record.detail);
	record.refusal = json_reader_decode(record.refusal);
	record.about = take_about(record.about);
	*ret_record = record;
	return true;
}

int journal_parse(char *bytes, size_t size, struct journal *ret_journal)
{
	/* no more than so many records begin in the bytes; what is not used costs no memory */
	struct journal_record *records = calloc(size / strlen(JOURNAL_BEGINNING) + 1, sizeof(*records));
	char *at = bytes, *end = bytes + size;
	size_t count = 0;

	if (!records) {
		return -ENOMEM;
	}
	while ((at = memmem(at, (size_t)(end - at), JOURNAL_BEGINNING, strlen(JOURNAL_BEGINNING))) != NULL) {
		size_t left = (size_t)(end - at);
		char *line_end = memchr(at, '\n', left < JOURNAL_RECORD_BYTES ? left : JOURNAL_RECORD_BYTES);
		struct json_reader reader = {.at = at, .end = line_end ? line_end : at};
		struct span line;

		if (json_reader_value(&reader, &line) && reader.at == line_end) {
			count += take_record(line, &records[count]);
			at = line_end;
		}
		at++;
	}
	*ret_journal = (struct journal){records, count, bytes};
	return 0;
}

/*
 * Appends at most JOURNAL_BYTES of a file to `bytes`. A file that is missing, not trusted or not a regular file counts
 * as empty.
 */
static int read_file(const struct directory *directory, int home, const char *name, char *bytes, size_t *size)
{
	size_t begin = *size, end = begin + JOURNAL_BYTES;
	ssize_t got = 1;
	int file = -1;
	int error = directory_open_file(directory, home, name, O_RDONLY, &file);

	if (error != 0) {
		return error == -ENOENT || error == -EPERM || error == -ELOOP || error == -ENXIO || error == -EISDIR
		           ? 0
		           : error;
	}
	while (*size < end && got > 0) {
		got = call_pread(file, bytes + *size, end - *size, (off_t)(*size - begin));
		*size += got > 0 ? (size_t)got : 0;
	}
	error = got < 0 ? -errno : 0;
	call_close(file);
	return error;
}

int journal_read(const struct directory *directory, struct journal *ret_journal)
{
	char *bytes = malloc(2 * JOURNAL_BYTES);
	size_t size = 0;
	int home = -1;
	int error = bytes ? directory_open(directory, DIRECTORY_REACH, &home) : -ENOMEM;

	if (error == 0) {
		error = read_file(directory, home, JOURNAL_OLD_NAME, bytes, &size);
		error = error == 0 ? read_file(directory, home, JOURNAL_NAME, bytes, &size) : error;
		call_close(home);
	} else if (error == -ENOENT) {
		error = 0;
	}
	error = error == 0 ? journal_parse(bytes, size, ret_journal) : error;
	if (error != 0) {
		free(bytes);
	}
	return error;
}

void journal_free(struct journal *journal)
{
	for (size_t i = 0; i < journal->count; i++) {
		/* take_about() has allocated it; it is const for readers */
		free((void *)(uintptr_t)journal->records[i].about.bytes);
	}
	free(journal->records);
	free(journal->bytes);
	*journal = (struct journal){.count = 0};
}
