/* SPDX-License-Identifier: MIT */
#include "cache/store.h"
#include "cli/commands.h"
#include "cli/console.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *reason(int error)
{
	switch (error) {
	case -EROFS:
		return "not written, because NVRTCCACHE_READONLY is set";
	case -EPERM:
		return "not used, because others can write to it";
	case -EAGAIN:
		return "another process keeps it locked";
	default:
		return strerror(-error);
	}
}

static void print_count(uint64_t count, const char *one, const char *many)
{
	printf("%" PRIu64 " %s", count, count == 1 ? one : many);
}

static void report(const struct settings *settings, const struct store_pruned *pruned)
{
	char text[CONSOLE_NUMBER_BYTES];
	char cap[CONSOLE_NUMBER_BYTES];

	printf("Removed ");
	print_count(pruned->removed.entries, "entry", "entries");
	if (pruned->removed.temporaries != 0) {
		printf(", ");
		print_count(pruned->removed.temporaries, "stale temporary file", "stale temporary files");
	}
	printf(" (%s) from %s\n", console_bytes(pruned->removed.bytes, text), settings->directory);
	print_count(pruned->left.entries, "entry", "entries");
	printf(" left, %s of %s\n", console_bytes(pruned->left.bytes, text),
	       settings->max_size != 0 ? console_bytes(settings->max_size, cap) : "no limit");
	if (pruned->foreign != 0) {
		print_count(pruned->foreign, "file", "files");
		printf(" of others left alone\n");
	}
}

static int prune(const struct settings *settings)
{
	struct store_options options = {.directory = settings->directory,
	                                .max_size = settings->max_size,
	                                .read_only = settings->read_only,
	                                .shared = settings->shared};
	struct store_pruned pruned = {0};
	struct store *store = NULL;
	int error;

	if (!console_directory(settings)) {
		return EXIT_TROUBLE;
	}
	error = store_open(&options, &store);
	if (error == 0) {
		error = store_prune(store, &pruned);
		store_close(store);
	}
	if (error != 0) {
		console_error("%s: %s", settings->directory, reason(error));
		return EXIT_TROUBLE;
	}
	report(settings, &pruned);
	if (pruned.failures != 0) {
		console_error("%" PRIu64 " %s could not be removed", pruned.failures,
		              pruned.failures == 1 ? "file" : "files");
	}
	return pruned.failures == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

int command_prune(int argc, char **argv)
{
	static const struct option options[] = {
	    {"max-size", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	struct settings settings;
	const char *size = NULL;
	int option;
	int status;

	while ((option = console_getopt(argc, argv, "s:h", options)) != -1) {
		if (option == 'h') {
			console_help("prune");
			return EXIT_DONE;
		}
		if (option == '?') {
			return console_usage("prune");
		}
		size = optarg;
	}
	if (optind < argc) {
		console_error("prune takes no argument: '%s'", argv[optind]);
		return console_usage("prune");
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	if (size != NULL && settings_parse_size(size, &settings.max_size) != 0) {
		console_error("bad size '%s': it takes %s", size, settings_wanted("NVRTCCACHE_MAX_SIZE"));
		settings_free(&settings);
		return console_usage("prune");
	}
	status = prune(&settings);
	settings_free(&settings);
	return status;
}
