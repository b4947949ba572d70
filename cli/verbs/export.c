/* SPDX-License-Identifier: MIT */
/*
 * export: writes the entries of the cache directory to one file
 *
 * The most recently used entries come last, so that a smaller cache that imports the file evicts the others first. The
 * entries are written without the stamps of files, which are not valid on another machine.
 */
#include "cache/recency.h"
#include "cache/tools/age.h"
#include "cache/tools/bundle.h"
#include "cache/tools/foreign.h"
#include "cache/tools/signature.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"
#include "cli/console/reading.h"
#include "cli/console/target.h"
#include "cli/console/verb.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <unistd.h>

static struct {
	const char *used_since, *key_file;
} asked;

struct export
{
	struct bundle_writer writer;
	uint64_t bytes;
	struct target *target;
	struct keyring *keyring; /* NULL: not signed */
	struct signature signature;
};

static int put_bytes(void *context, const void *bytes, size_t size)
{
	struct export *export = context;

	if (export->keyring) {
		signature_add(&export->signature, bytes, size);
	}
	return target_put(export->target, bytes, size);
}

/* Writes the signature of everything before it. */
static int put_signature(struct export *export)
{
	uint8_t bytes[SIGNATURE_BYTES];

	if (!export->keyring) {
		return 0;
	}
	signature_end(&export->signature, bytes);
	return target_put(export->target, bytes, sizeof(bytes));
}

static int put_entry(void *context, const struct entry *entry, int64_t used)
{
	struct export *export = context;
	struct entry *neutral = NULL;
	int error = foreign_neutral(entry, dependencies_forget, &neutral);

	(void)used;
	if (error == 0) {
		error = bundle_write_entry(&export->writer, neutral);
	}
	export->bytes += error == 0 ? entry_info(entry)->total_size : 0;
	entry_unref(neutral);
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

/* Writes all entries to the target. Returns -ECANCELED after the report of an error of the directory. */
static int write_bundle(const struct settings *settings, int64_t within_ns, struct export *export,
                        struct reading *reading)
{
	int error = reading_begin(settings, "exporting", reading);

	if (error == 0) {
		drop_unused(&reading->inventory, within_ns);
		/* the bundle's header contains the number of files, for the progress bar of the import */
		error = bundle_write_begin(&export->writer, reading->inventory.count, put_bytes, export);
		error = error ? error : reading_each(reading, put_entry, export);
		error = error ? error : bundle_write_end(&export->writer);
		error = error ? error : put_signature(export);
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
	char count[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];
	FILE *stream = target->fd == STDOUT_FILENO ? stderr : stdout;

	console_print(stream, "Exported %s %s (%s) from %s in %s", console_count(export->writer.entries, count),
	              export->writer.entries == 1 ? "entry" : "entries", console_bytes(export->bytes, size),
	              settings->directory, console_time((uint64_t)(progress_clock() - began_ns), took));
	fputc('\n', stream);
}

static int export_to(const struct settings *settings, const char *file, int64_t within_ns, struct keyring *keyring)
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
	if (keyring) {
		signature_begin(&export.signature, &keyring->keys[0]);
	}
	error = write_bundle(settings, within_ns, &export, &reading);
	if (!target_close(&target, settings->fsync ? DURABILITY_SYNC : DURABILITY_NONE, error)) {
		return EXIT_TROUBLE;
	}
	print_report(settings, &target, &export, began_ns);
	/* entries that could not be read are missing from the file, but the file is valid */
	return reading_report(&reading);
}

static int run_export(struct settings *settings, char **operands)
{
	struct keyring *keyring = NULL;
	char text[KEYRING_TEXT_MAX];
	int64_t within_ns = INT64_MAX;
	int status;

	if (asked.used_since && !age_parse(asked.used_since, &within_ns)) {
		console_error("export: --used-since: bad age '%s': it takes " AGE_WANTED, asked.used_since);
		return verb_usage(&verb_export);
	}
	if (asked.key_file && keyring_read(asked.key_file, &keyring, text) != 0) {
		console_error("%s", text);
		return EXIT_TROUBLE;
	}
	interrupt_hold();
	status = export_to(settings, operands[0], within_ns, keyring);
	keyring_free(keyring);
	return status;
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "[--used-since AGE] [--key-file FILE] FILE",
    .summary = "write all entries to a file ('-': standard output)",
    .example = "nvrtccache export kernels.nvb",
    .options =
        (const struct verb_option[]){
            {"used-since", 'u', "AGE", "only entries used within the last AGE, such as 12h, 1.5d or 2w", NULL,
             &asked.used_since},
            {"key-file", 'k', "FILE", "sign with the first key of this file", NULL, &asked.key_file},
            {NULL, 0, NULL, NULL, NULL, NULL}},
    .needs = VERB_DIRECTORY,
    .operand = "FILE",
    .least = 1,
    .most = 1,
    .run = run_export,
};
