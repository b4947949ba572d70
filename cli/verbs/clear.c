/* SPDX-License-Identifier: MIT */
#include "cache/store.h"
#include "cache/tools/usage.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/crew.h"
#include "cli/console/interrupt.h"
#include "cli/console/options.h"

#include <errno.h>

static void report(const struct settings *settings, const struct store_usage *removed, int64_t took_ns)
{
	char count[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];

	console_print(stdout, "Removed %s %s (%s) from %s in %s", console_count(removed->entries, count),
	              removed->entries == 1 ? "entry" : "entries", console_bytes(removed->bytes, size),
	              settings->directory, console_time((uint64_t)took_ns, took));
	putchar('\n');
	if (removed->foreign != 0) {
		printf("%s %s of others left alone\n", console_count(removed->foreign, count),
		       removed->foreign == 1 ? "file" : "files");
	}
}

static int clear(const struct settings *settings)
{
	int64_t began_ns = progress_clock();
	struct store_usage removed = {0};
	struct store *store = NULL;
	char refusal[CONSOLE_REFUSAL_BYTES];
	struct crew crew;
	int error;

	if (!console_directory(settings)) {
		return EXIT_TROUBLE;
	}
	crew_begin(&crew, "looking", "clearing");
	error = store_open(&(struct store_options){.directory = settings->directory,
	                                           .max_size = settings->max_size,
	                                           .read_only = settings->read_only,
	                                           .shared = settings->shared,
	                                           .chore = &crew.chore},
	                   &store);
	if (error == 0) {
		error = store_clear(store, &removed);
	}
	store_close(store);
	crew_end(&crew);
	if (error == 0 || error == -EINTR) {
		report(settings, &removed, progress_clock() - began_ns);
	}
	if (error == -EINTR) {
		console_error("interrupted before the end");
	} else if (error != 0) {
		console_error("%s: %s", settings->directory, console_refusal(settings, error, refusal));
	}
	return error == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

int command_clear(int argc, char **argv)
{
	struct settings settings;
	int status;

	if (!options_none("clear", argc, argv, &status)) {
		return status;
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	interrupt_hold();
	status = clear(&settings);
	settings_free(&settings);
	interrupt_release();
	return status;
}
