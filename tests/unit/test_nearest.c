/* SPDX-License-Identifier: MIT */
#include "cache/nearest.h"
#include "tests/unit/support.h"

static const char *const verbs[] = {"run", "stats", "ls", "show", "prune", "clear", "export", "import", "config"};
static char text[NEAREST_TEXT_BYTES];

static const char *suggest(const char *typed, const char *const *words, size_t count, size_t skip)
{
	return nearest_suggest(typed, strlen(typed), words, count, skip, text);
}

Test(nearest, a_mistyped_word_is_found)
{
	static const char *const pairs[][2] = {
	    {"stats", "stats"}, {"stat", "stats"},     {"sats", "stats"},    {"statss", "stats"},    {"tsats", "stats"},
	    {"statr", "stats"}, {"lsit", "ls"},        {"exprot", "export"}, {"inport", "import"},   {"purne", "prune"},
	    {"clean", "clear"}, {"configs", "config"}, {"Config", "config"}, {"configure", "config"}};

	for (size_t i = 0; i < COUNT(pairs); i++) {
		char expected[64];

		snprintf(expected, sizeof(expected), " (did you mean '%s'?)", pairs[i][1]);
		cr_expect_str_eq(suggest(pairs[i][0], verbs, 9, 0), expected, "%s gives %s", pairs[i][0], text);
	}
}

Test(nearest, the_last_word_at_the_smallest_distance_is_suggested)
{
	cr_expect_str_eq(suggest("prun", verbs, 9, 0), " (did you mean 'prune'?)");
	cr_expect_str_eq(suggest("runs", verbs, 9, 0), " (did you mean 'run'?)");
}

Test(nearest, nothing_is_suggested_for_a_word_far_from_all)
{
	EACH_STRING(far, cr_expect_str_eq(suggest(far, verbs, 9, 0), "", "%s gives %s", far, text), "", "x", "xyzzy",
	            "remove", "delete-everything", "EXPORT", "statistics of today");
	cr_expect_str_eq(suggest("run", verbs, 0, 0), "");
}

Test(nearest, a_common_prefix_alone_is_not_similar)
{
	static const char *const words[] = {"LONG_PREFIX_DIR", "LONG_PREFIX_LOG"};

	cr_expect_str_eq(suggest("XYZ", words, 2, 12), "");
	cr_expect_str_eq(suggest("LOGS", words, 2, 12), " (did you mean 'LONG_PREFIX_LOG'?)");
	cr_expect_str_eq(suggest("", words, 2, 12), "");
}
