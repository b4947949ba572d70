/* SPDX-License-Identifier: MIT */
/*
 * export: writes the entries of the cache directory to one file, or to a directory for an image
 *
 * The most recently used entries come last, so that a smaller cache that imports the file evicts the others first.
 */
#include "cache/settings.h"
#include "cache/tools/bundle.h"
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
	const char *key_file, *directory;
} asked;

struct export
{
	struct store *store; /* of --directory; NULL: a bundle is written */
	FILE *bundle;
	const struct keyring_key *signer; /* NULL: it is not signed */
	uint64_t bytes, entries;
};

static int put_entry(void *context, const struct entry *entry, int64_t used)
{
	struct export *export = context;
	int error = export->store ? inventory_add(export->store, entry)
	                          : bundle_write_entry(export->bundle, entry, export->signer);

	(void)used;
	export->bytes += error >= 0 ? entry_info(entry)->total_size : 0;
	export->entries += error >= 0;
	return error < 0 ? error : 0;
}

static bool write_file(const char *file, struct reading *reading, struct export *export)
{
	struct target target;
	int error;

	if (!target_open(file, "a bundle", &target)) {
		return false;
	}
	export->bundle = target.stream;
	/* the header has the number of files, for the progress line of the import */
	error = bundle_write_begin(target.stream, reading->inventory.count);
	error = error ? error : reading_each(reading, put_entry, export);
	error = error ? error : bundle_write_end(target.stream);
	return target_close(&target, error);
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

static bool write_directory(const char *path, struct reading *reading, struct export *export)
{
	char absolute[PATH_MAX], home[PATH_MAX + sizeof("/" DIRECTORY_HOME)];
	struct store store = {.directory = {.path = absolute}};
	/* the umask may have closed a new directory; one that was there stays as it is */
	int error = (mkdir(path, 0755) == 0 ? chmod(path, 0755) == 0 : errno == EEXIST) ? 0 : -errno;

	error = error == 0 && !realpath(path, absolute) ? -errno : error;
	if (error == 0) {
		export->store = &store;
		error = reading_each(reading, put_entry, export);
		(void)snprintf(home, sizeof(home), "%s/" DIRECTORY_HOME, absolute);
		error = error == 0 && nftw(home, open_to_all, 16, FTW_PHYS) != 0 && errno != ENOENT ? -errno : error;
	}
	if (error != 0) {
		console_error("%s: %s", path, error == -EINTR ? "interrupted" : console_reason(error));
	}
	return error == 0;
}

/* Prints a summary, to standard error if the bundle went to standard output. */
static void print_report(const struct settings *settings, const char *file, const struct export *export,
                         int64_t began_ns)
{
	char size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];
	FILE *stream = file && strcmp(file, "-") == 0 ? stderr : stdout;

	console_print(stream, "Exported %" PRIu64 " %s (%s) from %s in %s", export->entries,
	              export->entries == 1 ? "entry" : "entries", console_bytes(export->bytes, size),
	              settings->directory, console_time((uint64_t)(progress_clock() - began_ns), took));
	fputc('\n', stream);
}

static int export_entries(const struct settings *settings, const char *file, const struct keyring_key *signer)
{
	int64_t began_ns = progress_clock();
	struct export export = {.signer = signer};
	struct reading reading;
	int status = EXIT_TROUBLE, error;

	interrupt_hold();
	error = reading_begin(settings, "exporting", &reading);
	if (error != 0) {
		(void)console_refuse(settings, error);
	} else if (asked.directory ? write_directory(asked.directory, &reading, &export)
	                           : write_file(file, &reading, &export)) {
		print_report(settings, file, &export, began_ns);
		/* entries that could not be read are missing from the file, but the file is valid */
		status = reading_report(&reading);
	}
	reading_end(&reading);
	return status;
}

static int run_export(struct settings *settings, char **operands)
{
	struct keyring keyring;
	char text[KEYRING_TEXT_MAX];

	if (asked.directory ? operands[0] || asked.key_file : !operands[0]) {
		console_error("export: it takes a FILE, or --directory without FILE and --key-file");
		return verb_usage(&verb_export);
	}
	if (asked.directory && is_in_use(asked.directory)) {
		console_error("%s: programs use this cache directory; export to another one", asked.directory);
		return EXIT_TROUBLE;
	}
	if (asked.key_file && keyring_read(asked.key_file, &keyring, text) != 0) {
		console_error("%s", text);
		return EXIT_TROUBLE;
	}
	return export_entries(settings, operands[0], asked.key_file ? keyring.keys : NULL);
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "[options] FILE | --directory DIR",
    .summary = "write all entries to a file ('-': standard output) or a directory",
    .example = "nvrtccache export kernels.nvb",
    .options =
        VERB_OPTIONS(VERB_VALUE("directory", 'd', "DIR",
                                "write a directory for NVRTCCACHE_LOWER, which all users can read", &asked.directory),
                     VERB_VALUE("key-file", 'k', "FILE", "sign with the first key of this file", &asked.key_file)),
    .needs = VERB_DIRECTORY,
    .operand = "FILE",
    .most = 1,
    .run = run_export,
};
