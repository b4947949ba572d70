/* SPDX-License-Identifier: MIT */
/*
 * The lines of a journal. The first byte: bit 0: what is done.
 *
 * 0: events of the input's texts, spelled as the journal has them, one behind the other with bytes of the input between:
 *    all come back, byte for byte and in order, and no other; of a request that is cut, its first facts.
 * 1: the rest is read as whatever the bytes say: every text lies in them, and every request can be read or is refused.
 */
#include "cli/console/request.h"
#include "cli/explain/explanation.h"
#include "interpose/compile/event.h"
#include "interpose/compiler.h"
#include "keygen/about.h"

#include "tests/fuzz/fuzz.h"

#define RECORDS 6
#define FACTS   8

struct run {
	char bytes[RECORDS * (JOURNAL_RECORD_BYTES + 256)];
	size_t size;
	struct event events[RECORDS];
	size_t count;
};

static void put_bytes(struct run *run, struct input *input)
{
	size_t size;
	const uint8_t *bytes = take_bytes(input, take_number(input, 1), &size);

	memcpy(run->bytes + run->size, bytes, size);
	run->size += size;
}

static void put_fact(struct stream *about, struct input *input)
{
	uint64_t kind = ABOUT_COMPILER + take_number(input, 1) % (ABOUT_BUILD - ABOUT_COMPILER + 1);
	size_t size;
	const uint8_t *text = take_bytes(input, take_number(input, 2) % 4096, &size);
	const struct span name = {text, size};

	if (kind == ABOUT_PART) {
		about_part_of(about, "part", &name, &name);
	} else if (kind != ABOUT_ARTIFACT) {
		about_sized(about, (enum about_kind)kind, (const char *)text, size);
	}
}

static void copy_text(char ret_text[EVENT_DETAIL_BYTES], struct input *input)
{
	char *text = take_text(input);

	(void)snprintf(ret_text, EVENT_DETAIL_BYTES, "%s", text);
	free(text);
}

static void put_event(struct run *run, struct input *input)
{
	static const struct compiler compiler = {.name = "nvrtc", .title = "NVRTC"};
	static const enum event_kind kinds[] = {EVENT_STORED, EVENT_NOT_KEPT, EVENT_BYPASSED};
	struct event *event = &run->events[run->count++];
	size_t size;

	event_begin(event, &compiler, NULL, "dlsym", "k.cu", 0);
	event->kind = kinds[take_number(input, 1) % 3];
	event->why = (enum event_why)(take_number(input, 1) % 3);
	event->agent = (enum agent_outcome)(take_number(input, 1) % AGENT_OUTCOME_COUNT);
	event->compile_ns = take_number(input, 8);
	event->call.ns = take_number(input, 8);
	copy_text(event->detail, input);
	copy_text(event->refusal, input);
	about_begin(&event->about);
	for (size_t i = take_number(input, 1) % FACTS; i > 0; i--) {
		put_fact(&event->about, input);
	}
	size = event_spell(event, run->count, run->bytes + run->size);
	require(size > 0 && size <= JOURNAL_RECORD_BYTES && run->bytes[run->size + size - 1] == '\n');
	run->size += size;
}

static void compare(const struct journal_record *record, const struct event *event, uint64_t when_ns)
{
	require(record->when_ns == when_ns && record->took_ns == event->call.ns && record->agent == event->agent);
	require(record->cost_ns == (event->compile_ns ? event->compile_ns : event->call.ns));
	require(record->is_stale == (event->why == EVENT_WHY_STALE));
	require(record->is_unfit == (event->why == EVENT_WHY_UNFIT));
	require(span_is(record->detail, event->detail) && span_is(record->refusal, event->refusal));
	require(record->about.size <= event->about.size && record->is_cut == (record->about.size < event->about.size));
	require(memcmp(record->about.bytes, event->about.bytes, record->about.size) == 0);
}

static int see_fact(const struct about_fact *fact, void *context)
{
	*(size_t *)context += fact->size;
	return 0;
}

static void look(const struct journal *journal, size_t size)
{
	for (size_t i = 0; i < journal->count; i++) {
		const struct journal_record *record = &journal->records[i];
		const struct span texts[] = {record->reason, record->detail, record->refusal};
		size_t sum = 0;

		for (size_t j = 0; j < 3; j++) {
			const char *at = texts[j].bytes;

			require(texts[j].size == 0 || (at >= journal->bytes && texts[j].size <= size));
			require(texts[j].size == 0 || at <= journal->bytes + size - texts[j].size);
		}
		require(about_read(record->about.bytes, record->about.size, see_fact, &sum) <= 0 && sum <= size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	struct journal journal;
	static struct run run;

	if (take_number(&input, 1) & 1) {
		require(journal_parse((char *)copy_of(input.at, input.left), input.left, &journal) == 0);
		look(&journal, input.left);
		journal_free(&journal);
		return 0;
	}
	run.size = run.count = 0;
	while (input.left > 0 && run.count < RECORDS) {
		put_bytes(&run, &input);
		put_event(&run, &input);
	}
	require(journal_parse((char *)copy_of(run.bytes, run.size), run.size, &journal) == 0);
	require(journal.count == run.count);
	for (size_t i = 0; i < run.count; i++) {
		compare(&journal.records[i], &run.events[i], i + 1);
		stream_free(&run.events[i].about);
	}
	journal_free(&journal);
	return 0;
}
