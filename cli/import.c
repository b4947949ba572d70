/* SPDX-License-Identifier: MIT */
/* import: results of another cache, each checked as one from a file of the cache would be, and stored as one that was
 * just made; nothing of the file's says where anything is written */
#include "cache/bundle.h"
#include "cache/directory.h"
#include "cache/foreign.h"
#include "cache/store.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct work {
	uint64_t results;
	uint64_t bytes;
	uint64_t known; /* that were there before, and are none of the results above */
	uint64_t damaged;
	uint64_t large;
	int64_t began_ns;
};

static ssize_t get(void *context, void *bytes, size_t size)
{
	const int *origin = context;
	ssize_t got;

	do {
		got = interrupt_seen() == 0 ? read(*origin, bytes, size) : -1;
	} while (got < 0 && errno == EINTR && interrupt_seen() == 0);
	if (interrupt_seen() != 0) {
		return -EINTR;
	}
	return got < 0 ? -errno : got;
}

static const char *store_error(int error)
{
	switch (error) {
	case -EROFS:
		return "not written, because NVRTCCACHE_READONLY is set";
	case -EPERM:
		return "not used, because others can write to it";
	case -ENXIO:
		return "not made, because HOME is missing or another user's";
	case -ENOTDIR:
		return "a symbolic link, or no directory";
	default:
		return strerror(-error);
	}
}

static bool begin(const char *file, const struct settings *settings, struct bundle_reader *reader, int *origin)
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

/* False: the cache cannot take it, nor what follows. */
static bool keep(struct store *store, const struct settings *settings, const struct entry *entry, struct work *work)
{
	enum foreign_put put = FOREIGN_STORED;
	int error = foreign_put(store, entry, conditions_forget, conditions_same, &put);

	if (error == -EFBIG) {
		work->large++;
	} else if (error != 0) {
		console_error("%s: %s", settings->directory, store_error(error));
		return false;
	} else if (put == FOREIGN_KNOWN) {
		work->known++;
	} else {
		work->results++;
		work->bytes += entry_info(entry)->total_size;
	}
	return true;
}

/* Reads to the end, or as far as can be read. */
static enum bundle_found take_all(struct bundle_reader *reader, struct store *store, const struct settings *settings,
                                  struct work *work, int *ret_error)
{
	enum bundle_found found = BUNDLE_ENTRY;
	struct progress progress;
	bool going = true;

	progress_begin(&progress, "importing");
	while (going && found <= BUNDLE_LARGE) {
		struct entry *entry = NULL;

		found = bundle_read_next(reader, &entry, ret_error);
		if (found == BUNDLE_ENTRY) {
			progress_guess(&progress, reader->entries, reader->keys);
			going = keep(store, settings, entry, work);
			entry_unref(entry);
		}
		work->damaged += found == BUNDLE_DAMAGED;
		work->large += found == BUNDLE_LARGE;
	}
	progress_end(&progress);
	return found;
}

static int report(const char *file, const struct settings *settings, const struct work *work, enum bundle_found found,
                  int error)
{
	char count[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];

	printf("Imported %s %s (%s) into %s in %s", console_count(work->results, count),
	       work->results == 1 ? "result" : "results", console_bytes(work->bytes, size), settings->directory,
	       console_time((uint64_t)(progress_clock() - work->began_ns), took));
	if (work->known != 0) {
		printf("; %s %s there already", console_count(work->known, count), work->known == 1 ? "was" : "were");
	}
	putchar('\n');
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
	return found == BUNDLE_END && work->damaged == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

static int import_from(const struct settings *settings, struct store *store, const char *file)
{
	int origin = file ? open(file, O_RDONLY | O_NOCTTY | O_CLOEXEC) : STDIN_FILENO;
	struct work work = {.began_ns = progress_clock()};
	struct bundle_reader reader;
	enum bundle_found found;
	int status = EXIT_TROUBLE;
	int error = 0;

	file = file ? file : "standard input";
	if (origin < 0) {
		console_error("%s: %s", file, strerror(errno));
		return EXIT_TROUBLE;
	}
	if (begin(file, settings, &reader, &origin)) {
		found = take_all(&reader, store, settings, &work, &error);
		status = report(file, settings, &work, found, error);
	}
	if (origin != STDIN_FILENO) {
		close(origin);
	}
	return status;
}

int command_import(int argc, char **argv)
{
	struct settings settings;
	struct store *store = NULL;
	const char *file;
	int status;
	int error;

	if (!console_one_file("import", argc, argv, &file, &status)) {
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
	                                                                .same = conditions_same},
	                                        &store);
	if (error != 0) {
		console_error("%s: %s", settings.directory, store_error(error));
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
