/* SPDX-License-Identifier: MIT */
#include "cache/tools/prune.h"
#include "cache/store.h"
#include "cache/tools/age.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/crew.h"
#include "cli/console/interrupt.h"
#include "cli/console/options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void print_count(uint64_t count, const char *one, const char *many)
{
	char text[CONSOLE_NUMBER_BYTES];

	printf("%s %s", console_count(count, text), count == 1 ? one : many);
}

static void report(const struct settings *settings, const struct store_pruned *pruned, int64_t took_ns)
{
	char text[CONSOLE_NUMBER_BYTES];
	char took[CONSOLE_NUMBER_BYTES];
	char cap[CONSOLE_NUMBER_BYTES];

	printf("Removed ");
	print_count(pruned->removed.entries, "entry", "entries");
	if (pruned->removed.temporaries != 0) {
		printf(", ");
		print_count(pruned->removed.temporaries, "stale temporary file", "stale temporary files");
	}
	console_print(stdout, " (%s) from %s in %s", console_bytes(pruned->removed.bytes, text), settings->directory,
	              console_time((uint64_t)took_ns, took));
	putchar('\n');
	print_count(pruned->left.entries, "entry", "entries");
	printf(" left, %s of %s\n", console_bytes(pruned->left.bytes, text),
	       settings->max_size != 0 ? console_bytes(settings->max_size, cap) : "no limit");
	if (pruned->foreign != 0) {
		print_count(pruned->foreign, "file", "files");
		printf(" of others left alone\n");
	}
}

static int prune_directory(const struct settings *settings, int64_t unused_ns)
{
	int64_t began_ns = progress_clock();
	struct crew crew;
	struct store_options options = {.directory = settings->directory,
	                                .max_size = settings->max_size,
	                                .read_only = settings->read_only,
	                                .shared = settings->shared,
	                                .chore = &crew.chore};
	struct store_pruned pruned = {0};
	char refusal[CONSOLE_REFUSAL_BYTES];
	struct store *store = NULL;
	int error;

	if (!console_directory(settings)) {
		return EXIT_TROUBLE;
	}
	crew_begin(&crew, "looking", "pruning");
	error = store_open(&options, &store);
	if (error == 0) {
		error = store_prune_unused(store, unused_ns, &pruned);
		store_close(store);
	}
	crew_end(&crew);
	if (error != 0 && error != -EINTR) {
		console_error("%s: %s", settings->directory, console_refusal(settings, error, refusal));
		return EXIT_TROUBLE;
	}
	report(settings, &pruned, progress_clock() - began_ns);
	if (pruned.failures != 0) {
		console_error("%" PRIu64 " %s could not be removed", pruned.failures,
		              pruned.failures == 1 ? "file" : "files");
	}
	if (error == -EINTR) {
		console_error("interrupted before the end");
		return EXIT_TROUBLE;
	}
	return pruned.failures == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

/* False: said why. */
static bool read_limits(const char *size, const char *age, struct settings *settings, int64_t *ret_unused_ns)
{
	if (size != NULL && settings_parse_size(size, &settings->max_size) != 0) {
		console_error("bad size '%s': it takes %s", size, settings_wanted("NVRTCCACHE_MAX_SIZE"));
		return false;
	}
	if (age != NULL && !age_parse(age, ret_unused_ns)) {
		console_error("bad age '%s': it takes " AGE_WANTED, age);
		return false;
	}
	return true;
}

static int prune(const char *size, const char *age)
{
	int64_t unused_ns = INT64_MAX;
	struct settings settings;
	int status;

	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	if (!read_limits(size, age, &settings, &unused_ns)) {
		settings_free(&settings);
		return options_usage("prune");
	}
	interrupt_hold();
	status = prune_directory(&settings, unused_ns);
	settings_free(&settings);
	interrupt_release();
	return status;
}

int command_prune(int argc, char **argv)
{
	static const struct option options[] = {{"max-size", required_argument, NULL, 's'},
	                                        {"older-than", required_argument, NULL, 'o'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {NULL, 0, NULL, 0}};
	const char *size = NULL;
	const char *age = NULL;
	int option;

	while ((option = options_getopt(argc, argv, "s:o:h", options)) != -1) {
		if (option == 'h') {
			options_help("prune");
			return EXIT_DONE;
		}
		if (option == 's') {
			size = optarg;
		} else if (option == 'o') {
			age = optarg;
		} else {
			return options_usage("prune");
		}
	}
	if (optind < argc) {
		console_error("prune takes no argument: '%s'", argv[optind]);
		return options_usage("prune");
	}
	return prune(size, age);
}
