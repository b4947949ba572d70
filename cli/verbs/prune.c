/* SPDX-License-Identifier: MIT */
/*
 * prune and clear: remove some entries or all entries
 *
 * Each calls one function of cache/tools/. Interrupts are held: after a signal the work stops at its next file, and the
 * command reports what it has removed.
 */
#include "cache/tools/prune.h"
#include "cache/settings.h"
#include "cache/store.h"
#include "cache/tools/inventory.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"
#include "cli/console/verb.h"
#include "cli/verbs/results.h"

#include <errno.h>
#include <inttypes.h>

static struct {
	const char *max_size, *older_than, *compiler;
	bool dry_run;
} asked;

enum removal { REMOVE_UNUSED, REMOVE_ALL };

static void print_removed(const struct settings *settings, const struct store_pruned *pruned, int64_t took_ns)
{
	char size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];

	console_line("%s %" PRIu64 " %s (%s) from %s in %s", asked.dry_run ? "Would remove" : "Removed",
	             pruned->removed.entries, pruned->removed.entries == 1 ? "entry" : "entries",
	             console_bytes(pruned->removed.bytes, size), settings->directory,
	             console_time((uint64_t)took_ns, took));
}

static void print_left(const struct settings *settings, const struct store_pruned *pruned)
{
	char size[CONSOLE_NUMBER_BYTES], limit[CONSOLE_NUMBER_BYTES];

	printf("%" PRIu64 " %s left, %s of %s\n", pruned->left.entries, pruned->left.entries == 1 ? "entry" : "entries",
	       console_bytes(pruned->left.bytes, size),
	       settings->max_size != 0 ? console_bytes(settings->max_size, limit) : "no limit");
}

struct match {
	struct directory directory;
	bool is_release; /* of the last entry */
};

/* "12.9" and "12" are releases of NVRTC 12.9. */
static int match_release(void *context, const struct entry *entry)
{
	struct match *match = context;
	struct request request = results_request(entry);
	struct span rest;

	match->is_release = span_behind(request_text(&request, ABOUT_RELEASE), span_text(asked.compiler), &rest) &&
	                    (rest.size == 0 || *(const char *)rest.bytes == '.');
	request_free(&request);
	return 0;
}

static bool is_of_compiler(void *context, const uint8_t key[ENTRY_KEY_BYTES])
{
	struct match *match = context;

	match->is_release = false;
	(void)inventory_read(&match->directory, key, match_release, match);
	return match->is_release;
}

static int remove_entries(const struct settings *settings, enum removal removal, int64_t unused_ns)
{
	struct store store = {.directory = {settings->directory, settings->shared},
	                      .max_size = settings->max_size,
	                      .read_only = settings->read_only,
	                      .progress = progress_show};
	struct match match = {.directory = store.directory};
	const struct store_removal what = {.dry = asked.dry_run,
	                                   .all = removal == REMOVE_ALL,
	                                   .unused_ns = unused_ns,
	                                   .wanted = asked.compiler ? is_of_compiler : NULL,
	                                   .context = &match};
	int64_t began_ns = progress_clock();
	struct store_pruned pruned = {0};
	int error;

	interrupt_hold();
	error = store_remove(&store, &what, &pruned);
	console_status("");
	if (error != 0 && error != -EINTR) {
		return console_refuse(settings, error);
	}
	print_removed(settings, &pruned, progress_clock() - began_ns);
	/* after `clear` only files that could not be removed are left; see below */
	if (removal == REMOVE_UNUSED) {
		print_left(settings, &pruned);
	}
	if (asked.compiler && error == 0 && pruned.removed.entries + pruned.failures == 0) {
		console_error("no entry is of a compiler of release '%s'", asked.compiler);
	}
	if (pruned.failures != 0) {
		console_error("%" PRIu64 " %s could not be removed", pruned.failures,
		              pruned.failures == 1 ? "file" : "files");
	}
	if (error == -EINTR) {
		console_error("interrupted before the end");
	}
	return error == 0 && pruned.failures == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

static int run_prune(struct settings *settings, char **operands)
{
	int64_t unused_ns = INT64_MAX;
	int status;

	(void)operands;
	if (asked.max_size && settings_parse_size(asked.max_size, &settings->max_size) != 0) {
		return verb_refuse(&verb_prune, "max-size", asked.max_size, settings_wanted("NVRTCCACHE_MAX_SIZE"));
	}
	status = verb_age(&verb_prune, "older-than", asked.older_than, &unused_ns);
	return status ? status : remove_entries(settings, REMOVE_UNUSED, unused_ns);
}

static int run_clear(struct settings *settings, char **operands)
{
	(void)operands;
	return remove_entries(settings, REMOVE_ALL, INT64_MAX);
}

const struct verb verb_prune = {
    .name = "prune",
    .arguments = "[--max-size SIZE] [--older-than AGE] [--dry-run]",
    .summary = "evict the least recently used entries",
    .example = "nvrtccache prune --max-size 1.5G",
    .options = VERB_OPTIONS(
        VERB_VALUE("max-size", 's', "SIZE", "evict down to SIZE, such as 500M or 1.5G; 0: no limit", &asked.max_size),
        VERB_VALUE("older-than", 'o', "AGE", "evict entries not used for AGE, such as 36h or 2w", &asked.older_than),
        VERB_FLAG("dry-run", 'n', "change nothing, and say what would be evicted", &asked.dry_run)),
    .needs = VERB_DIRECTORY,
    .run = run_prune,
};

const struct verb verb_clear = {
    .name = "clear",
    .arguments = "[--compiler VERSION]",
    .summary = "remove all entries",
    .example = "nvrtccache clear --compiler 12.9",
    .options = VERB_OPTIONS(VERB_VALUE(
        "compiler", 'c', "VERSION", "only entries of compilers of this release, such as 12.9 or 12", &asked.compiler)),
    .needs = VERB_DIRECTORY,
    .run = run_clear,
};
