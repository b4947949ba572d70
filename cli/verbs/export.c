/* SPDX-License-Identifier: MIT */
/*
 * export: the cache directory as one file
 *
 * What was used last comes last, so that a smaller cache that imports it keeps that.
 */
#include "cache/tools/age.h"
#include "cache/tools/bundle.h"
#include "cache/tools/foreign.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/interrupt.h"
#include "cli/console/options.h"
#include "cli/console/progress.h"
#include "cli/console/reading.h"
#include "cli/console/target.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct work {
	struct bundle_writer writer;
	uint64_t bytes;
	uint64_t left_out;   /* files that are damaged, or that others can write */
	uint64_t unreadable; /* files, and directories of files */
};

static int put_entry(void *context, const struct entry *entry, int64_t used)
{
	struct work *work = context;
	struct entry *neutral = NULL;
	int error = foreign_neutral(entry, dependencies_forget, &neutral);

	(void)used;
	if (error == 0) {
		error = bundle_write_entry(&work->writer, neutral);
	}
	work->bytes += error == 0 ? entry_info(entry)->total_size : 0;
	entry_unref(neutral);
	return error;
}

/* What was not used within so many nanoseconds goes out of the list. */
static void leave_out_unused(struct inventory *inventory, int64_t within_ns)
{
	struct timespec clock = {0};
	size_t kept = 0;
	int64_t now;

	(void)clock_gettime(CLOCK_REALTIME, &clock);
	now = (int64_t)clock.tv_sec * 1000000000 + clock.tv_nsec;
	for (size_t i = 0; i < inventory->count; i++) {
		if (within_ns > now || inventory->records[i].used >= now - within_ns) {
			inventory->records[kept++] = inventory->records[i];
		}
	}
	inventory->count = kept;
}

static int put_all(const struct settings *settings, int64_t within_ns, struct target *target, struct work *work)
{
	char refusal[CONSOLE_REFUSAL_BYTES];
	struct reading reading;
	int error = reading_begin(settings, "exporting", &reading);

	if (error != 0) {
		reading_end(&reading);
		if (error != -EINTR) {
			console_error("%s: %s", settings->directory, console_refusal(settings, error, refusal));
		}
		return error;
	}
	leave_out_unused(&reading.inventory, within_ns);
	error = bundle_write_begin(&work->writer, reading.inventory.count, target_put, target);
	if (error == 0) {
		error = reading_each(&reading, put_entry, work);
	}
	if (error == 0) {
		error = bundle_write_end(&work->writer);
	}
	reading_end(&reading);
	work->left_out = reading.left_out;
	work->unreadable = reading.unreadable;
	return error;
}

static void report(const struct settings *settings, const struct target *target, const struct work *work,
                   int64_t began_ns)
{
	char count[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];
	/* standard output may be the bundle */
	FILE *stream = target->fd == STDOUT_FILENO ? stderr : stdout;

	console_print(stream, "Exported %s %s (%s) from %s in %s", console_count(work->writer.entries, count),
	              work->writer.entries == 1 ? "result" : "results", console_bytes(work->bytes, size),
	              settings->directory, console_time((uint64_t)(progress_clock() - began_ns), took));
	fputc('\n', stream);
	if (work->left_out != 0) {
		console_error("%" PRIu64 " damaged or untrusted %s left out", work->left_out,
		              work->left_out == 1 ? "file" : "files");
	}
	if (work->unreadable != 0) {
		console_error("%" PRIu64 " %s could not be read", work->unreadable,
		              work->unreadable == 1 ? "file or directory" : "files or directories");
	}
}

static int export_to(const struct settings *settings, const char *file, int64_t within_ns)
{
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
	                     put_all(settings, within_ns, &target, &work));
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
	static const struct option options[] = {
	    {"used-since", required_argument, NULL, 'u'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int64_t within_ns = INT64_MAX;
	struct settings settings;
	int option, status;

	while ((option = options_getopt(argc, argv, "u:h", options)) != -1) {
		if (option == 'h') {
			options_help("export");
			return EXIT_DONE;
		}
		if (option != 'u') {
			return options_usage("export");
		}
		if (!age_parse(optarg, &within_ns)) {
			console_error("bad age '%s': it takes " AGE_WANTED, optarg);
			return options_usage("export");
		}
	}
	if (optind + 1 != argc || argv[optind][0] == '\0') {
		console_error("export takes the name of one file");
		return options_usage("export");
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	interrupt_hold();
	status = console_directory(&settings) ? export_to(&settings, argv[optind], within_ns) : EXIT_TROUBLE;
	settings_free(&settings);
	interrupt_release();
	return status;
}
