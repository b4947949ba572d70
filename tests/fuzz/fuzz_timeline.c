/* SPDX-License-Identifier: MIT */
/*
 * Time lines. The input is a trace.
 *
 * What the reader tells of lies in the text. The members of an event, and theirs, lie in it one behind the other, up to
 * its end; each is a whole value.
 */
#include "cli/console/json_reader.h"

#include "tests/fuzz/fuzz.h"

struct walk {
	const char *text;
	size_t size;
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = text_of(data, size);
	struct json_reader_fault fault = {0, NULL};
	struct walk walk = {.text = copy, .size = size};
	bool is_whole = json_reader_trace(copy, size, look, &walk, &fault);

	require(fault.offset <= size && !(is_whole && fault.what));
	free(copy);
	return 0;
}
