/* SPDX-License-Identifier: MIT */
#include "cli/verbs/stats_json.h"

#include "cache/tools/usage.h"
#include "cli/console/console.h"

#include <time.h>

const struct stats_compiler stats_compilers[STATS_COMPILERS] = {
#define COMPILER_ROW(group, name, title) {COUNTER_##group, #name, title},
    COUNTERS_COMPILERS(COMPILER_ROW)
#undef COMPILER_ROW
};

static void add_group(struct json *json, const char *name, enum counter_group group,
                      const uint64_t counts[COUNTER_COUNT])
{
	json_begin_object(json, name);
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_group((enum counter)i) == group) {
			json_number(json, counter_name((enum counter)i), counts[i]);
		}
	}
	json_end(json);
}

static void add_since(struct json *json, int64_t since)
{
	time_t then = (time_t)since;
	struct tm parts;
	char text[64];
	bool known =
	    since != 0 && gmtime_r(&then, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);

	json_string(json, "since", known ? text : NULL);
}

/* A group has an object of its name; a total of that name would be said twice. */
static bool has_group(enum counter total)
{
	return total == COUNTER_TOTAL_not_kept || total == COUNTER_TOTAL_bypassed;
}

void stats_print_json(const struct settings *settings, const struct counted *shown)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 3);
	const uint64_t *counts = shown->counts;

	json_begin_object(&json, NULL);
	json_string(&json, "dir", settings->directory);
	json_number(&json, "entries", shown->usage.entries);
	json_number(&json, "bytes", shown->usage.bytes);
	json_number(&json, "max_bytes", settings->max_size);
	add_since(&json, shown->since);
	json_begin_object(&json, "compilers");
	for (size_t i = 0; i < STATS_COMPILERS; i++) {
		add_group(&json, stats_compilers[i].name, stats_compilers[i].group, counts);
	}
	json_end(&json);
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_group((enum counter)i) == COUNTER_TOTAL && !has_group((enum counter)i)) {
			json_number(&json, counter_name((enum counter)i), counts[i]);
		}
	}
	add_group(&json, "not_kept", COUNTER_NOT_KEPT, counts);
	add_group(&json, "bypassed", COUNTER_BYPASSED, counts);
	add_group(&json, "errors", COUNTER_ERRORS, counts);
	json_end(&json);
	console_json_end(&json);
}
