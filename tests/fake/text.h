/* SPDX-License-Identifier: MIT */
/* text: bytes that grow, with a NUL behind them that does not count, and lists of words; in all three fake compilers */
#ifndef TESTS_FAKE_TEXT_H
#define TESTS_FAKE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
	char *bytes; /* NULL: nothing was put there */
	size_t size;
};

static inline void text_put(struct text *text, const void *bytes, size_t size)
{
	text->bytes = realloc(text->bytes, text->size + size + 1);
	if (text->bytes == NULL) {
		abort();
	}
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	text->bytes[text->size] = '\0';
}

static inline void text_set(struct text *text, const void *bytes, size_t size)
{
	text->size = 0;
	text_put(text, bytes, size);
}

__attribute__((format(printf, 2, 3))) static inline void text_say(struct text *text, const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	text_put(text, line, strlen(line));
}

/* Returns false if there is no such file. */
static inline bool text_read(struct text *text, const char *path)
{
	FILE *file = fopen(path, "r");
	char bytes[4096];
	size_t got;

	if (file == NULL) {
		return false;
	}
	text_put(text, "", 0);
	while ((got = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		text_put(text, bytes, got);
	}
	fclose(file);
	return true;
}

static inline bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

enum words { WORDS_WHOLE, WORDS_BEGIN };

/* Is the text one of the words, or does it begin with one of them? They have a blank between them. */
static inline bool is_among(const char *text, const char *words, enum words how)
{
	while (*words != '\0') {
		size_t size = strcspn(words, " ");

		if (strncmp(text, words, size) == 0 && (how == WORDS_BEGIN || text[size] == '\0')) {
			return true;
		}
		words += size + (words[size] == ' ');
	}
	return false;
}

#endif
