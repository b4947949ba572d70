/* SPDX-License-Identifier: MIT */
#include "cache/nearest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Returns the distance, or SIZE_MAX if the word is not close. "DIRR" is close to "DIR", "XYZ" to no setting. */
static size_t measure_word(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);
	size_t longer = length > size ? length : size;
	size_t shorter = length + size - longer;
	size_t begin = 0, end = 0;

	while (begin < shorter && text[begin] == word[begin]) {
		begin++;
	}
	while (end < shorter - begin && text[size - 1 - end] == word[length - 1 - end]) {
		end++;
	}
	return longer - begin - end <= (longer + 2) / 3 ? longer - begin - end : SIZE_MAX;
}

const char *nearest_suggest(const char *text, size_t size, const char *const *words, size_t count, size_t skip,
                            char ret_text[NEAREST_TEXT_BYTES])
{
	size_t nearest = SIZE_MAX - 1;

	ret_text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		size_t found = measure_word(text, size, words[i] + skip);

		if (found <= nearest) {
			nearest = found;
			(void)snprintf(ret_text, NEAREST_TEXT_BYTES, " (did you mean '%s'?)", words[i]);
		}
	}
	return ret_text;
}
