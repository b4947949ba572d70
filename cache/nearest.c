/* SPDX-License-Identifier: MIT */
/* Uses the Damerau-Levenshtein distance, restricted to swaps of neighbours (optimal string alignment). */
#include "cache/nearest.h"

#include <stdio.h>
#include <string.h>

static unsigned smaller_of(unsigned one, unsigned other)
{
	return one < other ? one : other;
}

/*
 * Computes the table of distances between prefixes of both words, row by row. A swap of neighbours needs the row before
 * the last, so three rows suffice. They fit on the stack of any thread of the host.
 */
static unsigned count_edits(const char *one, size_t one_size, const char *other, size_t other_size)
{
	unsigned rows[3][NEAREST_BYTES + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= other_size; j++) {
		above[j] = (unsigned)j;
	}
	for (size_t i = 1; i <= one_size; i++) {
		unsigned *next = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= other_size; j++) {
			row[j] = above[j - 1] + (one[i - 1] != other[j - 1]);
			row[j] = smaller_of(row[j], smaller_of(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
				row[j] = smaller_of(row[j], before[j - 2] + 1);
			}
		}
		before = above;
		above = row;
		row = next;
	}
	return above[other_size];
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
	size_t end = 0, equals = 0, named = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned found = measure_word(text, size, words[i] + skip);

		equals = found < nearest ? 1 : equals + (found == nearest && found < NEAREST_BYTES);
		nearest = found < nearest ? found : nearest;
	}
	ret_text[0] = '\0';
	for (size_t i = 0; i < count && nearest < NEAREST_BYTES; i++) {
		if (measure_word(text, size, words[i] + skip) == nearest && end < NEAREST_TEXT_BYTES) {
			named++;
			end += (size_t)snprintf(ret_text + end, NEAREST_TEXT_BYTES - end, "%s'%s'%s",
			                        named == 1       ? " (did you mean "
			                        : named < equals ? ", "
			                                         : " or ",
			                        words[i], named == equals ? "?)" : "");
		}
	}
	return ret_text;
}
