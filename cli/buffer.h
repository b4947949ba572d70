/* SPDX-License-Identifier: MIT */
/*
 * buffer: a text that grows, and parts of it that are spelt for JSON or HTML
 *
 * Calling sequence: zeroed, then any; buffer_free(). Errors: what does not fit into memory sets `failed`, which stays.
 * Threads: one.
 */
#ifndef CLI_BUFFER_H
#define CLI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	char *at;
	size_t size, capacity;
	bool failed;
};

void buffer_add(struct buffer *buffer, const void *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void buffer_print(struct buffer *buffer, const char *format, ...);
/*
 * The inside of a JSON string that may stand in a script element. INSIDE: the text is one already, and only what HTML or
 * a script could take for something else is escaped.
 */
enum buffer_json { BUFFER_PLAIN, BUFFER_INSIDE };
void buffer_json(struct buffer *buffer, const char *text, size_t size, enum buffer_json json);
/* Text between two tags; of a JSON string's inside, as it is spelt there. */
void buffer_html(struct buffer *buffer, const char *text, size_t size);
void buffer_free(struct buffer *buffer);

#endif
