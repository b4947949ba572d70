/* SPDX-License-Identifier: MIT */
/* import: reads the entries of a bundle, checks each like an entry read from the cache, and stores it as if it had just
 * been compiled. The bundle's order, oldest use first, thereby becomes the order of use here. */
#include "cache/directory.h"
#include "cache/tools/bundle.h"
#include "cache/tools/foreign.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/interrupt.h"
#include "cli/console/options.h"
#include "cli/console/progress.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AHEAD_BYTES 65536 /* read at once */

struct origin {
	int file;
	size_t at, end;
	uint8_t ahead[AHEAD_BYTES];
};

struct work {
	struct store *store;
	struct progress progress;
	int64_t began_ns;
	uint64_t results, bytes;
	uint64_t known; /* entries that were in the cache already */
	uint64_t large, damaged;
	int error; /* the cache cannot store this entry, nor those that follow */
};

static ssize_t get(void *context, void *bytes, size_t size)
{
	struct origin *origin = context;
	ssize_t got = 0;

	while (origin->at == origin->end && interrupt_seen() == 0) {
		got = read(origin->file, origin->ahead, sizeof(origin->ahead));
		if (got >= 0 || errno != EINTR) {
			break;
		}
	}
	if (interrupt_seen() != 0) {
		return -EINTR;
	}
	if (got < 0) {
		return -errno;
	}
	if (origin->at == origin->end) {
		origin->at = 0;
		origin->end = (size_t)got;
	}
	size = size < origin->end - origin->at ? size : origin->end - origin->at;
	memcpy(bytes, origin->ahead + origin->at, size);
	origin->at += size;
	return (ssize_t)size;
}

static const char *store_error(const struct settings *settings, int error, char text[CONSOLE_REFUSAL_BYTES])
{
	switch (error) {
	case -ENXIO:
		return "not made, because HOME is missing or another user's";
	case -ENOTDIR:
		return "a symbolic link, or no directory";
	default:
		return console_refusal(settings, error, text);
	}
}

static bool begin(const char *file, const struct settings *settings, struct bundle_reader *reader,
                  struct origin *origin)
{
	/* an eighth of the cap, as for every store; of a cap below eight bytes too */
	uint64_t largest = settings->max_size == 0 ? 0 : settings->max_size < 16 ? 1 : settings->max_size / 8;
	int error = bundle_read_begin(reader, largest, get, origin);

	if (error == -EPROTONOSUPPORT && reader->format != BUNDLE_FORMAT) {
		console_error("%s: a bundle of format %" PRIu32 "; this program reads format %d", file, reader->format,
		              BUNDLE_FORMAT);
	} else if (error == -EPROTONOSUPPORT) {
		console_error("%s: a bundle with results of format %" PRIu32 "; this program reads format %d", file,
		              reader->entry_format, ENTRY_FORMAT);
	} else if (error == -EBADMSG) {
		console_error("%s: no bundle of results", file);
	} else if (error != 0) {
		console_error("%s: %s", file, strerror(-error));
	}
	return error == 0;
}

static void put(struct work *work, const struct entry *entry)
{
	enum foreign_put outcome;
	int error = foreign_put(work->store, entry, dependencies_forget, dependencies_same, &outcome);

	if (error == -EFBIG) {
		work->large++;
	} else if (error != 0) {
		work->error = error;
	} else if (outcome == FOREIGN_KNOWN) {
		work->known++;
	} else {
		work->results++;
		work->bytes += entry_info(entry)->total_size;
	}
}

/* A bundle without results tries the directory as one with some does; one that is missing is not made for nothing. */
static int ask_directory(const struct settings *settings)
{
	const struct directory directory = {settings->directory, settings->shared};
	int home;
	int error = directory_open(&directory, DIRECTORY_REACH, &home);

	if (error == 0) {
		close(home);
	}
	return error == -ENOENT ? 0 : error;
}

/* Reads to the end, or until something cannot be read or stored. */
static enum bundle_found put_all(struct bundle_reader *reader, struct work *work, int *ret_error)
{
	enum bundle_found found = BUNDLE_ENTRY;

	progress_begin(&work->progress, "importing");
	while (found <= BUNDLE_LARGE && work->error == 0) {
		struct entry *entry = NULL;

		found = bundle_read_next(reader, &entry, ret_error);
		if (found == BUNDLE_ENTRY) {
			put(work, entry);
			entry_unref(entry);
		}
		work->damaged += found == BUNDLE_DAMAGED;
		work->large += found == BUNDLE_LARGE;
		progress_guess(&work->progress, work->results + work->known + work->large + work->damaged,
		               reader->keys);
	}
	progress_end(&work->progress);
	return found;
}

static int report(const char *file, const struct settings *settings, const struct work *work, enum bundle_found found,
                  int error)
{
	char count[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];
	char refusal[CONSOLE_REFUSAL_BYTES];

	console_print(stdout, "Imported %s %s (%s) into %s in %s", console_count(work->results, count),
	              work->results == 1 ? "result" : "results", console_bytes(work->bytes, size), settings->directory,
	              console_time((uint64_t)(progress_clock() - work->began_ns), took));
	if (work->known != 0) {
		printf("; %s %s there already", console_count(work->known, count), work->known == 1 ? "was" : "were");
	}
	putchar('\n');
	if (work->error != 0) {
		console_error("%s: %s", settings->directory, store_error(settings, work->error, refusal));
	}
	if (work->large != 0) {
		console_error("%s: %" PRIu64 " %s larger than an eighth of the size cap left out", file, work->large,
		              work->large == 1 ? "result" : "results");
	}
	if (work->damaged != 0) {
		console_error("%s: %" PRIu64 " damaged %s left out", file, work->damaged,
		              work->damaged == 1 ? "result" : "results");
	}
	if (found == BUNDLE_CHANGED && work->damaged == 0) {
		console_error("%s: not as it was written", file);
	} else if (found == BUNDLE_CUT) {
		console_error("%s: cut short; what was whole is imported", file);
	} else if (found == BUNDLE_BROKEN) {
		console_error("%s: damaged; what came before is imported", file);
	} else if (found == BUNDLE_FAILED && interrupt_seen() != 0) {
		console_error("%s: interrupted; what came before is imported", file);
	} else if (found == BUNDLE_FAILED) {
		console_error("%s: %s", file, strerror(-error));
	}
	return found == BUNDLE_END && work->damaged == 0 && work->error == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

static int import_from(const struct settings *settings, struct store *store, const char *file)
{
	struct origin origin = {.file = file ? open(file, O_RDONLY | O_NOCTTY | O_CLOEXEC) : STDIN_FILENO};
	struct bundle_reader reader;
	struct work work = {.store = store, .began_ns = progress_clock()};
	enum bundle_found found;
	int status = EXIT_TROUBLE;
	int error = 0;

	file = file ? file : "standard input";
	if (origin.file < 0) {
		console_error("%s: %s", file, strerror(errno));
		return EXIT_TROUBLE;
	}
	if (begin(file, settings, &reader, &origin)) {
		found = put_all(&reader, &work, &error);
		status = report(file, settings, &work, found, error);
	}
	if (origin.file != STDIN_FILENO) {
		close(origin.file);
	}
	return status;
}

int command_import(int argc, char **argv)
{
	char refusal[CONSOLE_REFUSAL_BYTES];
	struct settings settings;
	struct store *store = NULL;
	const char *file;
	int status;
	int error;

	if (!options_one_file("import", argc, argv, &file, &status)) {
		return status;
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	status = EXIT_TROUBLE;
	if (!console_directory(&settings)) {
		goto out;
	}
	directory_settle(settings.directory, settings.home_length);
	error = settings.read_only ? -EROFS
	                           : store_open(&(struct store_options){.directory = settings.directory,
	                                                                .max_size = settings.max_size,
	                                                                .shared = settings.shared,
	                                                                .fsync = settings.fsync,
	                                                                .same = dependencies_same},
	                                        &store);
	if (error == 0) {
		error = ask_directory(&settings);
	}
	if (error != 0) {
		console_error("%s: %s", settings.directory, store_error(&settings, error, refusal));
		goto out;
	}
	interrupt_hold();
	status = import_from(&settings, store, strcmp(file, "-") == 0 ? NULL : file);
out:
	store_close(store);
	settings_free(&settings);
	interrupt_release();
	return status;
}
