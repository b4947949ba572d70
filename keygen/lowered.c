/* SPDX-License-Identifier: MIT */
/* The bytes, per expression: FIELD_EXPRESSION with its NUL, u32 code, FIELD_NAME with its NUL, or empty for no name. */
#include "keygen/lowered.h"

#include <string.h>

#define FIELD_EXPRESSION 1
#define FIELD_NAME       2

void lowered_put(struct stream *stream, const char *expression, int code, const char *name)
{
	stream_field(stream, FIELD_EXPRESSION, expression, strlen(expression) + 1);
	stream_u32(stream, (uint32_t)code);
	stream_field(stream, FIELD_NAME, name, name ? strlen(name) + 1 : 0);
}

/* The getter returns pointers into the entry, so each text must end with a NUL within the entry. */
static bool ends_with_nul(const char *text, size_t size)
{
	return text && size > 0 && text[size - 1] == '\0';
}

bool lowered_next(struct cursor *cursor, struct lowered *ret_lowered)
{
	struct lowered lowered;
	size_t expression_size = 0, name_size = 0;

	if (cursor_at_end(cursor)) {
		return false;
	}
	lowered.expression = cursor_field(cursor, FIELD_EXPRESSION, &expression_size);
	lowered.code = (int)cursor_u32(cursor);
	lowered.name = cursor_field(cursor, FIELD_NAME, &name_size);
	if (!cursor->failed && (!ends_with_nul(lowered.expression, expression_size) ||
	                        (name_size > 0 && !ends_with_nul(lowered.name, name_size)))) {
		cursor->failed = true;
	}
	if (cursor->failed) {
		return false;
	}
	lowered.name = name_size > 0 ? lowered.name : NULL;
	*ret_lowered = lowered;
	return true;
}
