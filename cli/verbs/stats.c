/* SPDX-License-Identifier: MIT */
/*
 * stats: prints the counters of all processes and the size of the cache
 *
 * Counters are rows of the lists in cache/counters.h, so that a new counter of a group appears in both forms of output
 * without a change here. The size is about what stores have noted; --count reads the directory instead.
 */
#include "cache/events.h"
#include "cache/settings.h"
#include "cache/store.h"
#include "cache/tools/prune.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"
#include "cli/console/verb.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
	bool json, zero, count, watch;
} asked;

static const struct {
	enum counter_group group;
	const char *name, *title;
} compilers[] = {
#define COMPILER_ROW(group, name, title) {COUNTER_##group, #name, title},
    COUNTERS_COMPILERS(COMPILER_ROW)
#undef COMPILER_ROW
};

#define COMPILERS (sizeof(compilers) / sizeof(compilers[0]))

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

static void add_since(struct json *json, uint64_t since_ns)
{
	/* JSON has UTC, because programs read it; the table has local time */
	time_t then = (time_t)(since_ns / 1000000000);
	struct tm parts;
	char text[64];
	bool known =
	    since_ns != 0 && gmtime_r(&then, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);

	json_string(json, "since", known ? text : NULL);
}

/*
 * Returns whether a total has the name of a group. Such a total is not written to JSON, because a member must not occur
 * twice; it is the sum of the group's members.
 */
static bool has_group(enum counter total)
{
	return total == COUNTER_TOTAL_not_kept || total == COUNTER_TOTAL_bypassed;
}

static void print_json(const struct settings *settings, const struct store_usage *usage, const struct events *events)
{
	struct json json = {.bytes = NULL};
	const uint64_t *counts = events->counts;

	json_begin_object(&json, NULL);
	json_string(&json, "dir", settings->directory);
	json_number(&json, "entries", usage->entries);
	json_number(&json, "bytes", usage->bytes);
	json_number(&json, "max_bytes", settings->max_size);
	add_since(&json, events->since_ns);
	json_begin_object(&json, "compilers");
	for (size_t i = 0; i < COMPILERS; i++) {
		add_group(&json, compilers[i].name, compilers[i].group, counts);
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

#define ROW "%-16s "

static void print_count(const char *name, uint64_t count)
{
	printf(ROW "%" PRIu64 "\n", name, count);
}

/* Prints a counter under its JSON name, with blanks instead of underscores. */
static void print_some(const char *indent, enum counter counter, uint64_t count)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s", indent, counter_name(counter));
	for (char *at = name; *at != '\0'; at++) {
		*at = *at == '_' ? ' ' : *at;
	}
	name[0] = (char)toupper(name[0]);
	if (count != 0) {
		print_count(name, count);
	}
}

static void print_share(const char *name, uint64_t part, uint64_t whole)
{
	printf(ROW "%" PRIu64, name, part);
	if (whole != 0) {
		printf(" (%.1f %%)", 100 * (double)part / (double)whole);
	}
	putchar('\n');
}

/* Prints the sum, then every reason that occurred. */
static void print_group(const char *title, enum counter_group group, const uint64_t counts[COUNTER_COUNT])
{
	uint64_t sum = 0;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		sum += counter_group((enum counter)i) == group ? counts[i] : 0;
	}
	print_count(title, sum);
	for (int i = 0; i < COUNTER_COUNT; i++) {
		print_some("  ", (enum counter)i, counter_group((enum counter)i) == group ? counts[i] : 0);
	}
}

/* Prints a line for each compiler, if several were used. For a single compiler it would repeat the line "Hits". */
static void print_compilers(const uint64_t counts[COUNTER_COUNT], uint64_t looked_up)
{
	char text[CONSOLE_NUMBER_BYTES], name[32];

	for (size_t i = 0; i < COMPILERS; i++) {
		uint64_t hits = counts[counter_share(compilers[i].group, COUNTER_TOTAL_hits_memory)] +
		                counts[counter_share(compilers[i].group, COUNTER_TOTAL_hits_disk)],
		         calls = hits + counts[counter_share(compilers[i].group, COUNTER_TOTAL_misses)];

		if (calls != 0 && calls != looked_up) {
			snprintf(name, sizeof(name), "  of %s", compilers[i].title);
			printf(ROW "%" PRIu64 " of %" PRIu64 ", %s saved\n", name, hits, calls,
			       console_time(counts[counter_share(compilers[i].group, COUNTER_TOTAL_saved_ns)], text));
		}
	}
}

/* Prints when the counters started: "2026-11-20 14:02 (2.1 days)". */
static void print_since(int64_t since)
{
	int64_t seconds = (int64_t)time(NULL) - since;
	char text[CONSOLE_NUMBER_BYTES], age[CONSOLE_NUMBER_BYTES];

	if (since != 0) {
		printf(ROW "%s (%s)\n", "Since", console_moment(since, "%Y-%m-%d %H:%M", text),
		       console_time(seconds > 0 ? (uint64_t)seconds * 1000000000 : 0, age));
	}
}

static void print_table(const struct settings *settings, const struct store_usage *usage, const struct events *events)
{
	const uint64_t *counts = events->counts;
	uint64_t hits = counts[COUNTER_TOTAL_hits_memory] + counts[COUNTER_TOTAL_hits_disk];
	/* percentages are of the calls that were looked up, which excludes bypassed calls */
	uint64_t looked_up = hits + counts[COUNTER_TOTAL_misses];
	char text[CONSOLE_NUMBER_BYTES];
	char cap[CONSOLE_NUMBER_BYTES];

	console_line(ROW "%s", "Directory", settings->directory);
	print_count("Entries", usage->entries);
	printf(ROW "%s%s of %s", "Size", asked.count ? "" : "about ", console_bytes(usage->bytes, text),
	       settings->max_size != 0 ? console_bytes(settings->max_size, cap) : "no limit");
	if (settings->max_size != 0) {
		printf(" (%.1f %%)", 100 * (double)usage->bytes / (double)settings->max_size);
	}
	putchar('\n');
	print_since((int64_t)(events->since_ns / 1000000000));
	print_share("Hits", hits, looked_up);
	print_share("  from memory", counts[COUNTER_TOTAL_hits_memory], looked_up);
	print_share("  from disk", counts[COUNTER_TOTAL_hits_disk], looked_up);
	print_compilers(counts, looked_up);
	print_share("Misses", counts[COUNTER_TOTAL_misses], looked_up);
	print_count("Stored", counts[COUNTER_TOTAL_stores]);
	print_group("Not cached", COUNTER_NOT_KEPT, counts);
	for (enum counter counter = COUNTER_TOTAL_evictions; counter <= COUNTER_TOTAL_agent_skipped; counter++) {
		print_some("", counter, counter == COUNTER_TOTAL_agent_wait_ns ? 0 : counts[counter]);
	}
	printf(ROW "%s\n", "Time compiling", console_time(counts[COUNTER_TOTAL_compile_ns], text));
	printf(ROW "%s\n", "Time saved", console_time(counts[COUNTER_TOTAL_saved_ns], text));
	print_group("Bypassed", COUNTER_BYPASSED, counts);
	print_group("Errors", COUNTER_ERRORS, counts);
	if (events->since_ns == 0) {
		puts("No call of a compiler has reached the cache: see 'nvrtccache doctor -- PROGRAM'.");
	}
}

static int read_usage(const struct settings *settings, struct store_usage *ret_usage)
{
	struct store store = {.directory = {settings->directory, settings->shared},
	                      .max_size = settings->max_size,
	                      /* read-only, so that the command neither creates nor changes the store */
	                      .read_only = true,
	                      .progress = progress_show};
	int error = asked.count ? store_usage(&store, ret_usage) : store_usage_about(&store, ret_usage);

	console_status("");
	return error;
}

/* Prints `before`, then the statistics. */
static int show_stats(const struct settings *settings, const char *before)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct store_usage usage;
	struct events events;
	int error = read_usage(settings, &usage);

	error = error ? error : events_read(&directory, EVENTS_ALL, &events);
	fputs(before, stdout);
	if (error != 0) {
		return console_refuse(settings, error);
	}
	if (asked.json) {
		print_json(settings, &usage, &events);
	} else {
		print_table(settings, &usage, &events);
	}
	events_free(&events);
	/* an error ends a watch and keeps the counters; otherwise console_finish() says what it is */
	return (asked.zero || asked.watch) && (fflush(stdout) != 0 || ferror(stdout)) ? EXIT_TROUBLE : EXIT_DONE;
}

static int zero_stats(const struct settings *settings)
{
	int error =
	    settings->read_only ? -EROFS : events_zero(&(struct directory){settings->directory, settings->shared});

	return error == 0 ? EXIT_DONE : console_refuse(settings, error);
}

static int run_stats(struct settings *settings, char **operands)
{
	const char *term = getenv("TERM");
	bool redraw = asked.watch && !asked.json && isatty(STDOUT_FILENO) == 1 && term && strcmp(term, "dumb") != 0;
	int status;

	(void)operands;
	if (asked.watch && asked.zero) {
		console_error("stats: --watch and --zero exclude each other");
		return verb_usage(&verb_stats);
	}
	do {
		status = show_stats(settings, redraw ? "\x1b[H\x1b[J" : "");
	} while (asked.watch && status == EXIT_DONE && nanosleep(&(struct timespec){.tv_sec = 2}, NULL) == 0);
	/* the counters are not reset if they could not be printed */
	return asked.zero && status == EXIT_DONE ? zero_stats(settings) : status;
}

const struct verb verb_stats = {
    .name = "stats",
    .arguments = "[--json] [--count] [--zero] [--watch]",
    .summary = "show hit rates, bypass reasons and cache size",
    .example = "nvrtccache stats --json",
    .options = VERB_OPTIONS(VERB_FLAG("json", 'j', "print JSON", &asked.json),
                            VERB_FLAG("zero", 'z', "show the statistics, then reset them", &asked.zero),
                            VERB_FLAG("count", 'c', "count the files (default: use the index)", &asked.count),
                            VERB_FLAG("watch", 'w', "repeat every two seconds until interrupted", &asked.watch)),
    .needs = VERB_DIRECTORY,
    .run = run_stats,
};
