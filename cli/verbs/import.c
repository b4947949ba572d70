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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *key_file;
} asked;

struct import {
	struct store *store; /* NULL: entries are read only */
	struct bundle_reader reader;
	uint64_t entries, bytes, known, large; /* `known`: the cache already had the entry */
	int refusal;                           /* of the cache, which ends the import; 0: none */
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

static bool begin_reading(const char *file, const struct settings *settings, FILE *stream, struct bundle_reader *reader)
{
	int error = bundle_read_begin(reader, entry_size_limit(settings->max_size), stream);

	if (error == -EPROTONOSUPPORT) {
		console_error("%s: bundle of format %" PRIu32 " with entries of format %" PRIu32
		              "; this version reads format %d with format %d",
		              file, reader->format, reader->entry_format, BUNDLE_FORMAT, ENTRY_FORMAT);
	} else if (error != 0) {
		console_error("%s: %s", file, explain(error));
	}
	return error == 0;
}

static void put_entry(struct import *import, const struct entry *entry)
{
	int error = inventory_add(import->store, entry);

	/* the entry is only counted, because smaller ones may follow */
	if (error == -EFBIG) {
		import->large++;
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
		if (entry && import->store) {
			put_entry(import, entry);
		}
		entry_unref(entry);
		rc = progress_show("importing", ++count, import->reader.keys) ? -EINTR : rc;
	} while (rc > 0 && import->refusal == 0);
	console_status("");
	return rc;
}

static void print_report(const char *file, const struct settings *settings, const struct import *import,
                         int64_t took_ns)
{
	char size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];
	uint64_t large = import->large + import->reader.large;

	console_print(stdout, "Imported %" PRIu64 " %s (%s) into %s in %s", import->entries,
	              import->entries == 1 ? "entry" : "entries", console_bytes(import->bytes, size),
	              settings->directory, console_time((uint64_t)took_ns, took));
	if (import->known != 0) {
		printf("; %" PRIu64 " %s there already", import->known, import->known == 1 ? "was" : "were");
	}
	putchar('\n');
	if (large != 0) {
		console_error("%s: left out: %" PRIu64 " %s larger than an eighth of the size limit", file, large,
		              large == 1 ? "entry" : "entries");
	}
}

/*
 * Returns a copy of the bundle without a name, which nobody can change between its verification and its import; NULL
 * after a message.
 */
static FILE *copy_bundle(const char *file, FILE *stream)
{
	FILE *copy = tmpfile();
	char bytes[16384];
	size_t size;

	(void)signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE fails instead */
	while (copy && !interrupt_seen() && (size = fread(bytes, 1, sizeof(bytes), stream)) > 0) {
		if (fwrite(bytes, 1, size, copy) < size) {
			break;
		}
	}
	if (!copy || interrupt_seen() || ferror(stream) || ferror(copy) || fflush(copy) != 0) {
		console_error("%s: not imported: it cannot be copied to /tmp: %s", file,
		              interrupt_seen() ? "interrupted" : strerror(errno));
		if (copy) {
			fclose(copy);
		}
		return NULL;
	}
	rewind(copy);
	return copy;
}

/* Reads the bundle once without a store, and goes back to its beginning. Returns false if it may not be imported. */
static bool verify(const char *file, const struct settings *settings, FILE *stream, const struct keyring *keyring)
{
	struct import nothing = {.store = NULL};
	int refusal;

	if (!begin_reading(file, settings, stream, &nothing.reader)) {
		return false;
	}
	refusal = read_all(&nothing);
	refusal = refusal ? refusal : bundle_judge(&nothing.reader, keyring);
	if (refusal) {
		console_error("%s: not imported: %s", file, explain(refusal));
	}
	rewind(stream);
	return !refusal;
}

static int import_from(const struct settings *settings, struct store *store, const char *file, FILE *stream)
{
	struct import import = {.store = store};
	int64_t began_ns = progress_clock();
	int error;

	if (!begin_reading(file, settings, stream, &import.reader)) {
		return EXIT_TROUBLE;
	}
	error = read_all(&import);
	if (import.refusal != 0) {
		return console_refuse(settings, import.refusal);
	}
	print_report(file, settings, &import, progress_clock() - began_ns);
	if (error != 0) {
		console_error("%s: %s; its sound entries so far are imported", file, explain(error));
	}
	return error == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

static int import_signed(const struct settings *settings, struct store *store, const char *file, FILE *stream)
{
	struct keyring *keyring = NULL;
	char text[KEYRING_TEXT_MAX];
	int status = EXIT_TROUBLE;
	FILE *copy;

	if (keyring_read(asked.key_file, &keyring, text) != 0) {
		console_error("%s", text);
		return EXIT_TROUBLE;
	}
	copy = copy_bundle(file, stream);
	if (copy) {
		status =
		    verify(file, settings, copy, keyring) ? import_from(settings, store, file, copy) : EXIT_TROUBLE;
		fclose(copy);
	}
	keyring_free(keyring);
	return status;
}

static int open_and_import(const struct settings *settings, struct store *store, const char *file)
{
	bool is_input = strcmp(file, "-") == 0;
	FILE *stream = is_input ? stdin : fopen(file, "re");
	int status;

	file = is_input ? "standard input" : file;
	if (!stream) {
		console_error("%s: %s", file, strerror(errno));
		return EXIT_TROUBLE;
	}
	status = (asked.key_file ? import_signed : import_from)(settings, store, file, stream);
	if (!is_input) {
		fclose(stream);
	}
	return status;
}

static int run_import(struct settings *settings, char **operands)
{
	struct store *store = NULL;
	int error, status;

	/* makes the store create a default directory only in a $HOME that belongs to this user */
	ground_settle(settings->directory, settings->base_length, settings->base_is_home);
	events_open(&(struct directory){settings->directory, settings->shared}, EVENTS_WRITABLE, getpid());
	error = settings->read_only ? -EROFS
	                            : store_open(&(struct store_options){.directory = settings->directory,
	                                                                 .max_size = settings->max_size,
	                                                                 .shared = settings->shared,
	                                                                 .fsync = settings->fsync},
	                                         &store);
	interrupt_hold();
	status = error ? console_refuse(settings, error) : open_and_import(settings, store, operands[0]);
	(void)events_tell_counts(EVENTS_NOW); /* evictions */
	store_close(store);
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
