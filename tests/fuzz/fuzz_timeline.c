/* SPDX-License-Identifier: MIT */
/*
 * Time lines, and the page that is made of them. The input is a trace.
 *
 * What the reader tells of lies in the text. The members of an event, and theirs, lie in it one behind the other, up to
 * its end; each is a whole value. A page of it has nothing of the trace
 * outside the element that holds data: as many tags as a page of none. Its data is a time line's own JSON again: read
 * as one event, it is whole.
 */
#include "cli/report/page.h"

#include "tests/fuzz/fuzz.h"

struct walk {
	const char *text;
	size_t size;
	size_t events;
	struct span last;
};

static void lies_inside(const struct walk *walk, struct span part)
{
	const char *at = part.bytes;

	require(at >= walk->text && part.size <= walk->size && at <= walk->text + walk->size - part.size);
}

static void walk_value(struct walk *walk, struct span value)
{
	struct json_reader again = {.at = value.bytes, .end = again.at + value.size},
	                   members = json_reader_members(value);
	struct span text = json_reader_string(value), name, whole;
	const char *behind = members.at;
	char *decoded = strndup(value.bytes, value.size);

	require(json_reader_value(&again, &whole) && again.at == again.end && whole.size == value.size);
	require(decoded != NULL && json_reader_decode((struct span){decoded, value.size}).size <= text.size);
	free(decoded);
	while (json_reader_next(&members, &name, &value)) {
		lies_inside(walk, value);
		require((const char *)value.bytes >= behind && (name.bytes == NULL) == !members.in_object);
		require(!name.bytes || (const char *)name.bytes + name.size < (const char *)value.bytes);
		behind = (const char *)value.bytes + value.size;
		walk_value(walk, value);
	}
	require(members.at == members.end || strspn(members.at, " \t\r\n") == (size_t)(members.end - members.at));
	require(members.what == NULL);
}

static void look(void *context, struct span event)
{
	struct walk *walk = context;

	lies_inside(walk, event);
	walk_value(walk, event);
	walk->events++;
	walk->last = event;
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
	const char *end = written->at + written->size;
	const char *data = memmem(written->at, written->size, opening, strlen(opening));
	const char *after;
	struct json_reader_fault fault;
	struct walk walk;

	require(data != NULL);
	data += strlen(opening);
	after = memmem(data, (size_t)(end - data), closing, strlen(closing));
	require(after != NULL);
	require(memchr(data, '<', (size_t)(after - data)) == NULL);
	require(memchr(data, '&', (size_t)(after - data)) == NULL);
	require(occurrences(written->at, end, "<script") == 2 && occurrences(written->at, end, closing) == 2);

	walk = (struct walk){.text = data, .size = (size_t)(after - data)};
	require(json_reader_trace(data, walk.size, look, &walk, &fault));
	require(walk.events == 1 && json_reader_string(json_reader_member(walk.last, "version")).size > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = text_of(data, size);
	struct written written = {0};
	struct page page;
	struct json_reader_fault fault = {0, NULL};
	struct walk walk = {.text = copy, .size = size};
	bool is_whole;

	page_begin(&page);
	is_whole = json_reader_trace(copy, size, look, &walk, &fault);
	require(fault.offset <= size && !(is_whole && fault.what));
	require(page_take(&page, &(struct page_source){"trace\n<\xff.json", copy, size, 0}, &fault) == is_whole);
	require(page.events == walk.events);
	if (!fault.what) {
		require(page_write(&page, keep, &written) == 0);
		check_page(&written);
	}
	free(written.at);
	page_free(&page);
	free(copy);
	return 0;
}
