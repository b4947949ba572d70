/* SPDX-License-Identifier: MIT */
#include "cli/stats_json.h"

#include "cli/console.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

const struct stats_compiler stats_compilers[STATS_COMPILERS] = {
#define COMPILER_ROW(group, name, title) {COUNTER_##group, #name, title},
    COUNTERS_COMPILERS(COMPILER_ROW)
#undef COMPILER_ROW
};

static void print_group(enum counter_group group, const uint64_t counts[COUNTER_COUNT], const char *indent)
{
	const char *separator = "";

	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_group((enum counter)i) != group) {
			continue;
		}
		printf("%s\n%s\"%s\": %" PRIu64, separator, indent, counter_name((enum counter)i), counts[i]);
		separator = ",";
	}
}

static void print_since(int64_t since)
{
	time_t then = (time_t)since;
	struct tm parts;
	char text[64];

	if (since == 0 || gmtime_r(&then, &parts) == NULL ||
	    strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%SZ\"", &parts) == 0) {
		snprintf(text, sizeof(text), "null");
	}
	printf(",\n  \"since\": %s", text);
}

/* A group has an object of its name; a total of that name would be said twice. */
static bool has_group(enum counter total)
{
	return total == COUNTER_TOTAL_not_kept || total == COUNTER_TOTAL_bypassed;
}

void stats_print_json(const struct settings *settings, const struct counted *shown)
{
	const struct store_usage *usage = &shown->usage;
	const uint64_t *counts = shown->counts;

	fputs("{\n  \"dir\": ", stdout);
	console_json_string(stdout, settings->directory);
	printf(",\n  \"entries\": %" PRIu64 ",\n  \"bytes\": %" PRIu64 ",\n  \"max_bytes\": %" PRIu64, usage->entries,
	       usage->bytes, settings->max_size);
	print_since(shown->since);
	fputs(",\n  \"compilers\": {", stdout);
	for (size_t i = 0; i < STATS_COMPILERS; i++) {
		printf("%s\n    \"%s\": {", i ? "," : "", stats_compilers[i].name);
		print_group(stats_compilers[i].group, counts, "      ");
		fputs("\n    }", stdout);
	}
	fputs("\n  }", stdout);
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_group((enum counter)i) == COUNTER_TOTAL && !has_group((enum counter)i)) {
			printf(",\n  \"%s\": %" PRIu64, counter_name((enum counter)i), counts[i]);
		}
	}
	fputs(",\n  \"not_kept\": {", stdout);
	print_group(COUNTER_NOT_KEPT, counts, "    ");
	fputs("\n  },\n  \"bypassed\": {", stdout);
	print_group(COUNTER_BYPASSED, counts, "    ");
	fputs("\n  },\n  \"errors\": {", stdout);
	print_group(COUNTER_ERRORS, counts, "    ");
	fputs("\n  }\n}\n", stdout);
}
