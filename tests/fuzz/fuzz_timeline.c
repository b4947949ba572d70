/* SPDX-License-Identifier: MIT */
/*
 * Time lines, and the page that is made of them. The input is a trace.
 *
 * What the reader tells of lies in the text; names and values come between the begin of an event and its end. a page of
 * it has nothing of the trace outside the element that holds data: as many tags as a page of none. Its data is a time line's own JSON again: read as one event, it is whole.
 */
#include "cli/report/page.h"

#include "tests/fuzz/fuzz.h"

struct walk {
	const char *text;
	size_t size;
	size_t members, events;
};

static void lies_inside(const struct walk *walk, const struct timeline_text *part)
{
	require(part->at >= walk->text && part->size <= walk->size);
	require(part->at <= walk->text + walk->size - part->size);
}

static void look(void *context, const struct timeline_member *member)
{
	struct walk *walk = context;

	lies_inside(walk, &member->name);
	lies_inside(walk, &member->value);
	require(member->level != TIMELINE_DEEPER);
	walk->members++;
}

static void count(void *context, const struct timeline_text *event)
{
	struct walk *walk = context;

	lies_inside(walk, event);
	walk->events++;
}

struct written {
	char *at;
	size_t size;
};

static int keep(void *context, const void *bytes, size_t size)
{
	struct written *written = context;

	written->at = realloc(written->at, written->size + size + 1);
	require(written->at != NULL);
	memcpy(written->at + written->size, bytes, size);
	written->size += size;
	return 0;
}

static size_t occurrences(const char *text, const char *end, const char *of)
{
	size_t found = 0;

	while (text < end && (text = memmem(text, (size_t)(end - text), of, strlen(of))) != NULL) {
		found++;
		text++;
	}
	return found;
}

static void check_page(const struct written *written)
{
	static const char opening[] = "id=\"data\">\n";
	static const char closing[] = "</script>";
	const struct timeline_reader reader = {look, count, NULL};
	const char *end = written->at + written->size;
	const char *data = memmem(written->at, written->size, opening, strlen(opening));
	const char *after;
	struct timeline_fault fault;
	struct walk walk;

	require(data != NULL);
	data += strlen(opening);
	after = memmem(data, (size_t)(end - data), closing, strlen(closing));
	require(after != NULL);
	require(memchr(data, '<', (size_t)(after - data)) == NULL);
	require(memchr(data, '&', (size_t)(after - data)) == NULL);
	require(occurrences(written->at, end, "<script") == 2 && occurrences(written->at, end, closing) == 2);

	walk = (struct walk){.text = data, .size = (size_t)(after - data)};
	require(timeline_read(data, walk.size, &(struct timeline_reader){reader.member, reader.end, &walk}, &fault) ==
	        TIMELINE_WHOLE);
	require(walk.events == 1 && walk.members == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = text_of(data, size);
	struct written written = {0};
	struct page page;
	struct timeline_fault fault = {0, NULL};
	struct walk walk = {.text = copy, .size = size};
	enum timeline_ending ending;

	page_begin(&page);
	ending = timeline_read(copy, size, &(struct timeline_reader){look, count, &walk}, &fault);
	require(fault.offset <= size && (ending == TIMELINE_BAD) == (fault.what != NULL));
	require(page_take(&page, &(struct page_source){"trace\n<\xff.json", copy, size, 0}, &fault) == ending);
	require(page.events == walk.events);
	if (ending != TIMELINE_BAD) {
		require(page_write(&page, keep, &written) == 0);
		check_page(&written);
	}
	free(written.at);
	page_free(&page);
	free(copy);
	return 0;
}
