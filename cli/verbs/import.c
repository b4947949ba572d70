/* SPDX-License-Identifier: MIT */
/*
 * import: reads the entries of a bundle, checks each like an entry read from the cache, and stores it as if it had just
 * been compiled. The bundle has the least recently used entry first, so the order of use stays the same.
 */
#include "cache/events.h"
#include "cache/store.h"
#include "cache/tools/bundle.h"
#include "cache/tools/inventory.h"
#include "cache/trust.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"
#include "cli/console/verb.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *key_file;
} asked;

struct import {
	struct store *store;
	struct bundle_reader reader;
	uint64_t entries, bytes, known; /* `known`: the cache already had the entry */
	int refusal;                    /* of the cache, which ends the import; 0: none */
};

static const char *explain(int error)
{
	switch (error) {
	case -ENOEXEC:
		return "not a bundle that 'nvrtccache export' wrote";
	case -EBADMSG:
		return "damaged or cut short";
	case -EINTR:
		return "interrupted";
	case -ENOMSG:
		return "not signed (export --key-file)";
	case -ENOKEY:
		return "signed with a key that is not in --key-file";
	case -EKEYREJECTED:
		return "the signature is wrong: damaged or forged";
	default:
		return strerror(-error);
	}
}

static void put_entry(struct import *import, const struct entry *entry)
{
	int error = inventory_add(import->store, entry);

	/* beyond RLIMIT_FSIZE; the entry is only counted, because smaller ones may follow */
	if (error == -EFBIG) {
		import->reader.large++;
	} else if (error < 0) {
		/* the next entry would fail as well */
		import->refusal = error;
	} else if (error == 1) {
		import->known++;
	} else {
		import->entries++;
		import->bytes += entry_info(entry)->total_size;
	}
}

/* Reads the bundle to its end, or until it cannot be read or the cache returns an error. */
static int read_all(struct import *import)
{
	uint64_t count = 0;
	int rc;

	do {
		struct entry *entry;

		rc = bundle_read_next(&import->reader, &entry);
		if (entry) {
			put_entry(import, entry);
		}
		entry_unref(entry);
		rc = progress_show("importing", ++count, import->reader.header.keys) ? -EINTR : rc;
	} while (rc > 0 && import->refusal == 0);
	console_status("");
	return rc;
}

static void print_report(const char *file, const struct settings *settings, const struct import *import,
                         int64_t took_ns)
{
	char size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];

	console_print(stdout, "Imported %" PRIu64 " %s (%s) into %s in %s", import->entries,
	              import->entries == 1 ? "entry" : "entries", console_bytes(import->bytes, size),
	              settings->directory, console_time((uint64_t)took_ns, took));
	if (import->known != 0) {
		printf("; %" PRIu64 " %s there already", import->known, import->known == 1 ? "was" : "were");
	}
	putchar('\n');
	if (import->reader.large != 0) {
		console_error("%s: left out: %" PRIu64 " %s larger than an eighth of the size limit", file,
		              import->reader.large, import->reader.large == 1 ? "entry" : "entries");
	}
}

static int import_from(const struct settings *settings, struct import *import, const char *file)
{
	const struct bundle_header *header = &import->reader.header;
	int64_t began_ns = progress_clock();
	int error = bundle_read_begin(&import->reader);

	if (error == -EPROTONOSUPPORT) {
		console_error("%s: bundle of format %" PRIu32 " with entries of format %" PRIu32
		              "; this version reads format %d with format %d",
		              file, header->format, header->entry_format, BUNDLE_FORMAT, ENTRY_FORMAT);
		return EXIT_TROUBLE;
	}
	if (error != 0) {
		console_error("%s: %s", file, explain(error));
		return EXIT_TROUBLE;
	}
	error = read_all(import);
	if (import->refusal != 0) {
		return console_refuse(settings, import->refusal);
	}
	print_report(file, settings, import, progress_clock() - began_ns);
	if (error != 0) {
		console_error("%s: %s; its sound entries so far are imported", file, explain(error));
	}
	return error == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

static int open_and_import(const struct settings *settings, struct store *store, const char *file)
{
	bool is_input = strcmp(file, "-") == 0;
	struct import import = {.store = store};
	struct keyring keyring;
	char text[KEYRING_TEXT_MAX];
	int status = EXIT_TROUBLE;

	if (asked.key_file && keyring_read(asked.key_file, &keyring, text) != 0) {
		console_error("%s", text);
		return EXIT_TROUBLE;
	}
	import.reader = (struct bundle_reader){.stream = is_input ? stdin : fopen(file, "re"),
	                                       .keyring = asked.key_file ? &keyring : NULL,
	                                       .limit = entry_size_limit(settings->max_size)};
	file = is_input ? "standard input" : file;
	if (import.reader.stream) {
		status = import_from(settings, &import, file);
		fclose(import.reader.stream);
	} else {
		console_error("%s: %s", file, strerror(errno));
	}
	return status;
}

static int run_import(struct settings *settings, char **operands)
{
	struct store store = {.directory = {settings->directory, settings->shared},
	                      .max_size = settings->max_size,
	                      .fsync = settings->fsync};
	int status;

	/* makes the store create a default directory only in a $HOME that belongs to this user */
	ground_settle(settings->directory, settings->base_length, settings->base_is_home);
	events_open(&store.directory, getpid());
	interrupt_hold();
	status =
	    settings->read_only ? console_refuse(settings, -EROFS) : open_and_import(settings, &store, operands[0]);
	(void)events_tell_counts(EVENTS_NOW); /* evictions */
	return status;
}

const struct verb verb_import = {
    .name = "import",
    .arguments = "[--key-file FILE] FILE",
    .summary = "add the entries of an exported file ('-': standard input)",
    .example = "nvrtccache import kernels.nvb",
    .options = VERB_OPTIONS(
        VERB_VALUE("key-file", 'k', "FILE", "import only what a key of this file has signed", &asked.key_file)),
    .needs = VERB_DIRECTORY,
    .operand = "FILE",
    .least = 1,
    .most = 1,
    .run = run_import,
};
