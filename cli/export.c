/* SPDX-License-Identifier: MIT */
/*
 * export: the cache directory as one file
 *
 * What was used last comes last, so that a smaller cache that imports it keeps that.
 */
#include "cache/bundle.h"
#include "cache/foreign.h"
#include "cache/inventory.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/target.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct work {
	struct bundle_writer writer;
	uint64_t bytes;
	uint64_t left_out;   /* files that are damaged, or that others can write */
	uint64_t unreadable; /* files, and directories of files */
	int error;           /* of writing */
};

static int put_entry(void *context, const struct entry *entry)
{
	struct work *work = context;
	struct entry *neutral = NULL;

	work->error = foreign_neutral(entry, conditions_forget, &neutral);
	if (work->error == 0) {
		work->error = bundle_write_entry(&work->writer, neutral);
	}
	work->bytes += work->error == 0 ? entry_info(entry)->total_size : 0;
	entry_unref(neutral);
	return work->error;
}

static int put_all(const struct directory *directory, struct target *target, struct work *work)
{
	struct inventory inventory;
	struct progress progress;
	int error = inventory_take(directory, &inventory);

	if (error != 0) {
		console_error("%s: %s", directory->path,
		              error == -EPERM ? "not used, because others can write to it" : strerror(-error));
		return error;
	}
	work->unreadable = inventory.failures;
	progress_begin(&progress, "exporting");
	work->error = bundle_write_begin(&work->writer, inventory.count, target_put, target);
	for (size_t i = 0; i < inventory.count && work->error == 0; i++) {
		error = inventory_read(directory, inventory.records[i].key, put_entry, work);
		if (error == -EBADMSG || error == -EPERM) {
			work->left_out++;
		} else if (error != -ENOENT && error != 0) {
			work->unreadable++;
		}
		progress_show(&progress, i + 1, inventory.count);
	}
	if (work->error == 0) {
		work->error = bundle_write_end(&work->writer);
	}
	progress_end(&progress);
	inventory_free(&inventory);
	return work->error;
}

static void report(const struct settings *settings, const struct target *target, const struct work *work,
                   int64_t began_ns)
{
	char count[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];

	/* standard output may be the bundle */
	fprintf(target->fd == STDOUT_FILENO ? stderr : stdout, "Exported %s %s (%s) from %s in %s\n",
	        console_count(work->writer.entries, count), work->writer.entries == 1 ? "result" : "results",
	        console_bytes(work->bytes, size), settings->directory,
	        console_time((uint64_t)(progress_clock() - began_ns), took));
	if (work->left_out != 0) {
		console_error("%" PRIu64 " damaged or untrusted %s left out", work->left_out,
		              work->left_out == 1 ? "file" : "files");
	}
	if (work->unreadable != 0) {
		console_error("%" PRIu64 " %s could not be read", work->unreadable,
		              work->unreadable == 1 ? "file or directory" : "files or directories");
	}
}

static int export_to(const struct settings *settings, const char *file)
{
	struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct work work = {.bytes = 0};
	int64_t began_ns = progress_clock();
	struct target target;
	bool whole; /* or not at all */
	int error = strcmp(file, "-") == 0 && isatty(STDOUT_FILENO) == 1 ? -EINVAL : target_open(file, &target);

	file = strcmp(file, "-") == 0 ? "standard output" : file;
	if (error != 0) {
		console_error("%s: %s", file,
		              error == -EINVAL ? "a bundle is not written to a terminal" : strerror(-error));
		return EXIT_TROUBLE;
	}
	whole = target.path != NULL;
	error = target_close(&target, settings->fsync ? DURABILITY_SYNC : DURABILITY_NONE,
	                     put_all(&directory, &target, &work));
	if (error != 0) {
		if (interrupt_seen() != 0) {
			console_error("%s: interrupted; %s", file,
			              whole ? "no bundle is written" : "the bundle is cut short");
		} else if (work.writer.put != NULL) { /* else it was the directory, and has been said */
			console_error("%s: %s", file, strerror(-error));
		}
		return EXIT_TROUBLE;
	}
	report(settings, &target, &work, began_ns);
	return work.unreadable == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

int command_export(int argc, char **argv)
{
	struct settings settings;
	const char *file;
	int status;

	if (!console_one_file("export", argc, argv, &file, &status)) {
		return status;
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	interrupt_hold();
	status = console_directory(&settings) ? export_to(&settings, file) : EXIT_TROUBLE;
	settings_free(&settings);
	interrupt_release();
	return status;
}
