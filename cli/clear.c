/* SPDX-License-Identifier: MIT */
#include "cache/store.h"
#include "cli/commands.h"
#include "cli/console.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int command_clear(int argc, char **argv)
{
	struct settings settings;
	struct store_usage removed = {0};
	struct store *store = NULL;
	char size[CONSOLE_NUMBER_BYTES];
	int status;
	int error;

	if (!console_no_arguments("clear", argc, argv, &status)) {
		return status;
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	status = EXIT_TROUBLE;
	if (!console_directory(&settings)) {
		goto out;
	}
	error = store_open(&(struct store_options){.directory = settings.directory,
	                                           .max_size = settings.max_size,
	                                           .read_only = settings.read_only,
	                                           .shared = settings.shared},
	                   &store);
	if (error == 0) {
		error = store_clear(store, &removed);
	}
	if (error != 0 && error != -ENOENT) {
		console_error("%s: %s", settings.directory,
		              error == -EROFS ? "not written, because NVRTCCACHE_READONLY is set" : strerror(-error));
		goto out;
	}
	printf("Removed %" PRIu64 " %s (%s) from %s\n", removed.entries, removed.entries == 1 ? "entry" : "entries",
	       console_bytes(removed.bytes, size), settings.directory);
	if (removed.foreign != 0) {
		printf("%" PRIu64 " %s of others left alone\n", removed.foreign,
		       removed.foreign == 1 ? "file" : "files");
	}
	status = EXIT_DONE;
out:
	store_close(store);
	settings_free(&settings);
	return status;
}
