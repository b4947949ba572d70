/* SPDX-License-Identifier: MIT */
#include "cache/nearest.h"

#include <stdio.h>
#include <string.h>

static unsigned smaller_of(unsigned one, unsigned other)
{
	return one < other ? one : other;
}

/* Computes the table of distances between prefixes of both words, of which one row is in memory. */
static unsigned count_edits(const char *one, size_t one_size, const char *other, size_t other_size)
{
	unsigned row[NEAREST_BYTES + 1];

	for (size_t j = 0; j <= other_size; j++) {
		row[j] = (unsigned)j;
	}
	for (size_t i = 1; i <= one_size; i++) {
		unsigned before = row[0]; /* of the row above, one column to the left */

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= other_size; j++) {
			unsigned changed = before + (one[i - 1] != other[j - 1]);

			before = row[j];
			row[j] = smaller_of(changed, smaller_of(row[j], row[j - 1]) + 1);
		}
	}
	return row[other_size];
}

/* Returns the distance, or NEAREST_BYTES if the word is not close. "DIRR" is close to "DIR", "XYZ" to no setting. */
static unsigned measure_word(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);
	size_t longer = length > size ? length : size;
	unsigned found = longer <= NEAREST_BYTES ? count_edits(text, size, word, length) : NEAREST_BYTES;

	return found <= (longer + 2) / 3 ? found : NEAREST_BYTES;
}

const char *nearest_suggest(const char *text, size_t size, const char *const *words, size_t count, size_t skip,
                            char ret_text[NEAREST_TEXT_BYTES])
{
	unsigned nearest = NEAREST_BYTES;

	ret_text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		unsigned found = measure_word(text, size, words[i] + skip);

		if (found < NEAREST_BYTES && found <= nearest) {
			nearest = found;
			(void)snprintf(ret_text, NEAREST_TEXT_BYTES, " (did you mean '%s'?)", words[i]);
		}
	}
	return ret_text;
}
