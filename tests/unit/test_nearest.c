/* SPDX-License-Identifier: MIT */
#include "cache/nearest.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const verbs[] = {"run", "stats", "ls", "show", "prune", "clear", "export", "import", "config"};

static const char *near(const char *text)
{
	return nearest_word(text, strlen(text), verbs, sizeof(verbs) / sizeof(verbs[0]), 0);
}

Test(nearest, what_is_mistyped_is_found)
{
	static const char *const pairs[][2] = {{"stats", "stats"},    {"stat", "stats"},    {"sats", "stats"},
	                                       {"statss", "stats"},   {"tsats", "stats"},   {"statr", "stats"},
	                                       {"list", "ls"},        {"sl", "ls"},         {"exprot", "export"},
	                                       {"inport", "import"},  {"purne", "prune"},   {"clean", "clear"},
	                                       {"configs", "config"}, {"Config", "config"}, {"configure", "config"}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const char *found = near(pairs[i][0]);

		cr_expect(found && strcmp(found, pairs[i][1]) == 0, "%s gives %s", pairs[i][0], found ? found : "none");
	}
}

Test(nearest, what_is_far_from_all_has_none)
{
	static const char *const far[] = {
	    "", "x", "xyzzy", "remove", "delete-everything", "EXPORT", "statistics of today"};

	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		cr_expect_null(near(far[i]), "%s gives %s", far[i], near(far[i]));
	}
	cr_expect_null(nearest_word("run", 3, verbs, 0, 0));
}

Test(nearest, of_equals_the_first_and_a_nearer_one_wins)
{
	static const char *const words[] = {"abcx", "abcy", "abcd", "abcdef"};

	cr_expect_str_eq(nearest_word("abcz", 4, words, 4, 0), "abcx");
	cr_expect_str_eq(nearest_word("abcd", 4, words, 4, 0), "abcd");
	cr_expect_str_eq(nearest_word("abcde", 5, words, 4, 0), "abcd");
}

Test(nearest, a_common_beginning_does_not_count)
{
	static const char *const words[] = {"LONG_PREFIX_DIR", "LONG_PREFIX_LOG"};

	cr_expect_null(nearest_word("XYZ", 3, words, 2, 12));
	cr_expect_str_eq(nearest_word("LOGS", 4, words, 2, 12), "LONG_PREFIX_LOG");
	cr_expect_null(nearest_word("LOG", 0, words, 2, 12), "no letter of it counts");
}

Test(nearest, long_texts_are_near_to_nothing_and_reach_no_further_than_the_tables)
{
	char longest[NEAREST_BYTES + 2], word[NEAREST_BYTES + 2];
	const char *const words[] = {word};

	memset(longest, 'a', sizeof(longest));
	memset(word, 'a', sizeof(word));
	word[NEAREST_BYTES] = '\0';
	cr_expect_eq(nearest_word(longest, NEAREST_BYTES, words, 1, 0), word);
	cr_expect_null(nearest_word(longest, NEAREST_BYTES + 1, words, 1, 0));
	word[NEAREST_BYTES] = 'a';
	word[NEAREST_BYTES + 1] = '\0';
	cr_expect_null(nearest_word(longest, NEAREST_BYTES, words, 1, 0), "nor are long words near to anything");
}
