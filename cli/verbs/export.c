/* SPDX-License-Identifier: MIT */
/*
 * export: writes the entries of the cache directory to one file, or to a directory for an image
 *
 * The most recently used entries come last, so that a smaller cache that imports the file evicts the others first.
 */
#include "cache/recency.h"
#include "cache/settings.h"
#include "cache/tools/bundle.h"
#include "cache/tools/foreign.h"
#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "cli/console/progress.h"
#include "cli/console/target.h"
#include "cli/console/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	const char *used_since, *key_file, *directory;
} asked;

struct export
{
	struct bundle_writer writer;
	uint64_t bytes, entries;
	struct target *target;
	struct store *store;           /* of --directory; NULL: a bundle is written */
	const struct keyring *keyring; /* NULL: not signed */
};

static int put_entry(void *context, const struct entry *entry, int64_t used)
{
	struct export *export = context;
	enum foreign_put outcome;
	int error;

	(void)used;
	if (export->store) {
		error = foreign_put(export->store, entry, &outcome);
	} else {
		error = bundle_write_entry(&export->writer, entry);
	}
	export->bytes += error == 0 ? entry_info(entry)->total_size : 0;
	export->entries += error == 0;
	return error;
}

/* Removes the entries that were not used within the last `within_ns` nanoseconds from the list. */
static void drop_unused(struct inventory *inventory, int64_t within_ns)
{
	const int64_t now = recency_now();
	size_t kept = 0;

	for (size_t i = 0; i < inventory->count; i++) {
		if (recency_within(inventory->records[i].used, within_ns, now)) {
			inventory->records[kept++] = inventory->records[i];
		}
	}
	inventory->count = kept;
}

/* Writes what was asked for. Returns -ECANCELED after the report of an error of the cache directory. */
static int write_all(const struct settings *settings, int64_t within_ns, struct export *export, struct reading *reading)
{
	int error = reading_begin(settings, "exporting", reading);

	if (error == 0) {
		drop_unused(&reading->inventory, within_ns);
		/* the bundle's header contains the number of files, for the progress bar of the import */
		error = export->store
		            ? 0
		            : bundle_write_begin(&export->writer, reading->inventory.count, target_put, export->target);
		error = error ? error : reading_each(reading, put_entry, export);
		if (error == 0 && !export->store) {
			error = bundle_write_end(&export->writer, export->keyring ? export->keyring->keys : NULL);
		}
	} else if (error != -EINTR) {
		(void)console_refuse(settings, error);
		error = -ECANCELED;
	}
	reading_end(reading);
	return error;
}

/* Prints a summary, to standard error if the bundle went to standard output. */
static void print_report(const struct settings *settings, const struct target *target, const struct export *export,
                         int64_t began_ns)
{
	char size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];
	FILE *stream = target && target->is_output ? stderr : stdout;

	console_print(stream, "Exported %" PRIu64 " %s (%s) from %s in %s", export->entries,
	              export->entries == 1 ? "entry" : "entries", console_bytes(export->bytes, size),
	              settings->directory, console_time((uint64_t)(progress_clock() - began_ns), took));
	fputc('\n', stream);
}

static int export_to(const struct settings *settings, const char *file, int64_t within_ns,
                     const struct keyring *keyring)
{
	struct export export = {.keyring = keyring};
	int64_t began_ns = progress_clock();
	struct reading reading;
	struct target target;
	int error;

	if (!target_open(file, "a bundle", &target)) {
		return EXIT_TROUBLE;
	}
	export.target = &target;
	error = write_all(settings, within_ns, &export, &reading);
	if (!target_close(&target, error)) {
		return EXIT_TROUBLE;
	}
	print_report(settings, &target, &export, began_ns);
	/* entries that could not be read are missing from the file, but the file is valid */
	return reading_report(&reading);
}

/* The programs of a mount belong to other users: everybody may read the directory, and only its owner write. */
static int open_to_all(const char *path, const struct stat *found, int type, struct FTW *place)
{
	(void)found;
	(void)place;
	return type == FTW_SL ? 0 : chmod(path, type == FTW_D ? 0755 : 0644);
}

/* Such a directory keeps its modes: it has requests with sources, and the record of what programs did. */
static bool is_in_use(const char *path)
{
	char record[PATH_MAX];

	return snprintf(record, sizeof(record), "%s/" DIRECTORY_HOME "/events", path) < (int)sizeof(record) &&
	       faccessat(AT_FDCWD, record, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int export_directory(const struct settings *settings, const char *path, int64_t within_ns)
{
	char absolute[PATH_MAX], home[PATH_MAX + sizeof("/" DIRECTORY_HOME)];
	const struct store_options options = {.directory = absolute};
	int64_t began_ns = progress_clock();
	struct export export = {0};
	struct reading reading;
	/* the umask may have closed a new directory; one that was there stays as it is */
	int error = (mkdir(path, 0755) == 0 ? chmod(path, 0755) == 0 : errno == EEXIST) ? 0 : -errno;

	error = error == 0 && !realpath(path, absolute) ? -errno : error;
	error = error ? error : store_open(&options, &export.store);
	if (error == 0) {
		error = write_all(settings, within_ns, &export, &reading);
		store_close(export.store);
		(void)snprintf(home, sizeof(home), "%s/" DIRECTORY_HOME, absolute);
		error = error == 0 && nftw(home, open_to_all, 16, FTW_PHYS) != 0 && errno != ENOENT ? -errno : error;
	}
	if (error != 0) {
		if (error != -ECANCELED) {
			console_error("%s: %s", path, error == -EINTR ? "interrupted" : console_reason(error));
		}
		return EXIT_TROUBLE;
	}
	print_report(settings, NULL, &export, began_ns);
	return reading_report(&reading);
}

static int run_export(struct settings *settings, char **operands)
{
	struct keyring *keyring = NULL;
	char text[KEYRING_TEXT_MAX];
	int64_t within_ns = INT64_MAX;
	int status;

	if (asked.used_since && !settings_parse_age(asked.used_since, &within_ns)) {
		return verb_refuse(&verb_export, "used-since", asked.used_since, SETTINGS_AGE_WANTED);
	}
	if (asked.directory ? operands[0] || asked.key_file : !operands[0]) {
		console_error("export: it takes a FILE, or --directory without FILE and --key-file");
		return verb_usage(&verb_export);
	}
	if (asked.key_file && keyring_read(asked.key_file, &keyring, text) != 0) {
		console_error("%s", text);
		return EXIT_TROUBLE;
	}
	if (asked.directory && is_in_use(asked.directory)) {
		console_error("%s: programs use this cache directory; export to another one", asked.directory);
		keyring_free(keyring);
		return EXIT_TROUBLE;
	}
	interrupt_hold();
	status = asked.directory ? export_directory(settings, asked.directory, within_ns)
	                         : export_to(settings, operands[0], within_ns, keyring);
	keyring_free(keyring);
	return status;
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "[options] FILE | --directory DIR",
    .summary = "write all entries to a file ('-': standard output) or a directory",
    .example = "nvrtccache export kernels.nvb",
    .options =
        VERB_OPTIONS(VERB_VALUE("used-since", 'u', "AGE",
                                "only entries used within the last AGE, such as 12h, 1.5d or 2w", &asked.used_since),
                     VERB_VALUE("directory", 'd', "DIR",
                                "write a directory for NVRTCCACHE_LOWER, which all users can read", &asked.directory),
                     VERB_VALUE("key-file", 'k', "FILE", "sign with the first key of this file", &asked.key_file)),
    .needs = VERB_DIRECTORY,
    .operand = "FILE",
    .most = 1,
    .run = run_export,
};
