/* SPDX-License-Identifier: MIT */
#include "cache/counters.h"
#include "cache/store.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/crew.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct {
	enum counter_group group;
	const char *name, *title;
} compilers[] = {
#define COMPILER_ROW(group, name, title) {COUNTER_##group, #name, title},
    COUNTERS_COMPILERS(COMPILER_ROW)
#undef COMPILER_ROW
};

#define COMPILER_COUNT (sizeof(compilers) / sizeof(compilers[0]))

static void print_json_group(enum counter_group group, const uint64_t counts[COUNTER_COUNT], const char *indent)
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

static void print_json(const struct settings *settings, const struct store_usage *usage,
                       const uint64_t counts[COUNTER_COUNT])
{
	fputs("{\n  \"dir\": ", stdout);
	console_json_string(stdout, settings->directory);
	printf(",\n  \"entries\": %" PRIu64 ",\n  \"bytes\": %" PRIu64 ",\n  \"max_bytes\": %" PRIu64, usage->entries,
	       usage->bytes, settings->max_size);
	fputs(",\n  \"compilers\": {", stdout);
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		printf("%s\n    \"%s\": {", i ? "," : "", compilers[i].name);
		print_json_group(compilers[i].group, counts, "      ");
		fputs("\n    }", stdout);
	}
	fputs("\n  }", stdout);
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_group((enum counter)i) == COUNTER_TOTAL) {
			printf(",\n  \"%s\": %" PRIu64, counter_name((enum counter)i), counts[i]);
		}
	}
	fputs(",\n  \"bypassed\": {", stdout);
	print_json_group(COUNTER_BYPASSED, counts, "    ");
	fputs("\n  },\n  \"errors\": {", stdout);
	print_json_group(COUNTER_ERRORS, counts, "    ");
	fputs("\n  }\n}\n", stdout);
}

#define ROW "%-16s "

static void print_count(const char *name, uint64_t count)
{
	printf(ROW "%" PRIu64 "\n", name, count);
}

static void print_share(const char *name, uint64_t part, uint64_t whole)
{
	printf(ROW "%" PRIu64, name, part);
	if (whole != 0) {
		printf(" (%.1f %%)", 100 * (double)part / (double)whole);
	}
	putchar('\n');
}

/* The sum, then every reason that occurred; underscores are for machines. */
static void print_group(const char *title, enum counter_group group, const uint64_t counts[COUNTER_COUNT])
{
	uint64_t sum = 0;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		sum += counter_group((enum counter)i) == group ? counts[i] : 0;
	}
	print_count(title, sum);
	for (int i = 0; i < COUNTER_COUNT; i++) {
		char name[32];

		if (counter_group((enum counter)i) != group || counts[i] == 0) {
			continue;
		}
		snprintf(name, sizeof(name), "  %s", counter_name((enum counter)i));
		for (char *at = name; *at != '\0'; at++) {
			*at = *at == '_' ? ' ' : *at;
		}
		print_count(name, counts[i]);
	}
}

/* Where more than one was used: what each of them had. */
static void print_compilers(const uint64_t counts[COUNTER_COUNT])
{
	uint64_t hits[COMPILER_COUNT], misses[COMPILER_COUNT];
	char text[CONSOLE_NUMBER_BYTES], name[32];
	int used = 0;

	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		hits[i] = counts[counter_share(compilers[i].group, COUNTER_TOTAL_hits_memory)] +
		          counts[counter_share(compilers[i].group, COUNTER_TOTAL_hits_disk)];
		misses[i] = counts[counter_share(compilers[i].group, COUNTER_TOTAL_misses)];
		used += hits[i] + misses[i] != 0;
	}
	for (size_t i = 0; used > 1 && i < COMPILER_COUNT; i++) {
		if (hits[i] + misses[i] != 0) {
			snprintf(name, sizeof(name), "  of %s", compilers[i].title);
			printf(ROW "%" PRIu64 " of %" PRIu64 ", %s saved\n", name, hits[i], hits[i] + misses[i],
			       console_time(counts[counter_share(compilers[i].group, COUNTER_TOTAL_saved_ns)], text));
		}
	}
}

static void print_table(const struct settings *settings, const struct store_usage *usage,
                        const uint64_t counts[COUNTER_COUNT])
{
	uint64_t hits = counts[COUNTER_TOTAL_hits_memory] + counts[COUNTER_TOTAL_hits_disk];
	uint64_t looked_up = hits + counts[COUNTER_TOTAL_misses];
	char text[CONSOLE_NUMBER_BYTES];
	char cap[CONSOLE_NUMBER_BYTES];

	printf(ROW "%s\n", "Directory", settings->directory);
	print_count("Entries", usage->entries);
	printf(ROW "%s of %s", "Size", console_bytes(usage->bytes, text),
	       settings->max_size != 0 ? console_bytes(settings->max_size, cap) : "no limit");
	if (settings->max_size != 0) {
		printf(" (%.1f %%)", 100 * (double)usage->bytes / (double)settings->max_size);
	}
	putchar('\n');
	print_share("Hits", hits, looked_up);
	print_share("  from memory", counts[COUNTER_TOTAL_hits_memory], looked_up);
	print_share("  from disk", counts[COUNTER_TOTAL_hits_disk], looked_up);
	print_compilers(counts);
	print_share("Misses", counts[COUNTER_TOTAL_misses], looked_up);
	if (counts[COUNTER_TOTAL_stale] != 0) {
		print_share("  out of date", counts[COUNTER_TOTAL_stale], looked_up);
	}
	print_count("Stored", counts[COUNTER_TOTAL_stores]);
	if (counts[COUNTER_TOTAL_evictions] != 0) {
		print_count("Evicted", counts[COUNTER_TOTAL_evictions]);
	}
	if (counts[COUNTER_TOTAL_verified] != 0) {
		print_count("Verified", counts[COUNTER_TOTAL_verified]);
		print_count("  mismatches", counts[COUNTER_ERRORS_mismatch]);
		if (counts[COUNTER_TOTAL_verify_uncompared] != 0) {
			print_count("  not comparable", counts[COUNTER_TOTAL_verify_uncompared]);
		}
	}
	printf(ROW "%s\n", "Time compiling", console_time(counts[COUNTER_TOTAL_compile_ns], text));
	printf(ROW "%s\n", "Time saved", console_time(counts[COUNTER_TOTAL_saved_ns], text));
	print_group("Bypassed", COUNTER_BYPASSED, counts);
	print_group("Errors", COUNTER_ERRORS, counts);
}

static int gather(const struct settings *settings, bool count, struct store_usage *ret_usage,
                  uint64_t ret_counts[COUNTER_COUNT])
{
	struct crew crew;
	struct store *store;
	struct store_options options = {.directory = settings->directory,
	                                .max_size = settings->max_size,
	                                .read_only = true,
	                                .shared = settings->shared,
	                                .chore = &crew.chore};
	int error = store_open(&options, &store);

	if (error != 0) {
		return error;
	}
	crew_begin(&crew, "counting", "");
	error = count ? store_usage(store, ret_usage) : store_usage_noted(store, ret_usage);
	crew_end(&crew);
	store_close(store);
	if (error == -ENOENT) {
		memset(ret_usage, 0, sizeof(*ret_usage));
		error = 0;
	}
	return error != 0 ? error : counters_read(settings->directory, ret_counts);
}

static int show(const struct settings *settings, bool json, bool zero, bool count)
{
	struct store_usage usage = {0};
	uint64_t counts[COUNTER_COUNT] = {0};
	int error;

	if (!console_directory(settings)) {
		return EXIT_TROUBLE;
	}
	if (settings->shared) {
		counters_share();
	}
	error = gather(settings, count, &usage, counts);
	if (error == 0) {
		if (json) {
			print_json(settings, &usage, counts);
		} else {
			print_table(settings, &usage, counts);
		}
		/* what could not be shown is not thrown away */
		if (zero && (fflush(stdout) != 0 || ferror(stdout))) {
			return EXIT_TROUBLE;
		}
		if (zero && settings->read_only) {
			error = -EROFS;
		} else if (zero) {
			error = counters_zero(settings->directory);
		}
	}
	if (error == -EPERM) {
		console_error("%s: not used, because others can write to it", settings->directory);
	} else if (error == -EROFS) {
		console_error("%s: not written, because NVRTCCACHE_READONLY is set", settings->directory);
	} else if (error != 0) {
		console_error("%s: %s", settings->directory, strerror(-error));
	}
	return error == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

int command_stats(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
	                                        {"zero", no_argument, NULL, 'z'},
	                                        {"count", no_argument, NULL, 'c'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {NULL, 0, NULL, 0}};
	struct settings settings;
	bool json = false;
	bool zero = false;
	bool count = false;
	int option;
	int status;

	while ((option = console_getopt(argc, argv, "jzch", options)) != -1) {
		if (option == 'h') {
			console_help("stats");
			return EXIT_DONE;
		}
		if (option == '?') {
			return console_usage("stats");
		}
		json |= option == 'j';
		zero |= option == 'z';
		count |= option == 'c';
	}
	if (optind < argc) {
		console_error("stats takes no argument: '%s'", argv[optind]);
		return console_usage("stats");
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	status = show(&settings, json, zero, count);
	settings_free(&settings);
	return status;
}
