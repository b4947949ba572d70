/* SPDX-License-Identifier: MIT */
/*
 * The files are listed first: name, size, time of use. Then they are read one by one in the order of use. The bar
 * therefore knows their number, and only the entries of one file are in memory at a time.
 * A bad file does not end the reading. An error that the visitor returns, an interrupt, or lack of memory does.
 */
#include "cli/console/reading.h"

#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <errno.h>
#include <inttypes.h>

struct visiting {
	reading_visit *visit;
	void *context;
	int64_t used;
	int result; /* what `visit` returned last */
};

static int visit_entry(void *context, const struct entry *entry)
{
	struct visiting *visiting = context;

	visiting->result = visiting->visit(visiting->context, entry, visiting->used);
	return visiting->result;
}

int reading_begin(const struct settings *settings, const char *doing, struct reading *ret_reading)
{
	int error;

	*ret_reading = (struct reading){.directory = {settings->directory, settings->shared}, .doing = doing};
	error = inventory_take(&ret_reading->directory, "", progress_chore(), &ret_reading->inventory);
	/* directories of shards that could not be listed */
	ret_reading->unreadable = ret_reading->inventory.failures;
	return error;
}

/* Counts the error of one file. Returns a negative value if it has to end the whole reading, else 0. */
static int judge_error(struct reading *reading, const struct visiting *visiting, int error)
{
	/* inventory_read() returns the visitor's result too; only `result` shows that it is not an error of the file */
	if (visiting->result < 0 || error == -ENOMEM) {
		return error;
	}
	if (error == -EBADMSG || error == -EPERM) {
		reading->left_out++;
	} else if (error != 0 && error != -ENOENT) { /* -ENOENT: the file was evicted after it had been listed */
		reading->unreadable++;
	}
	return 0;
}

int reading_each(struct reading *reading, reading_visit *visit, void *context)
{
	const struct inventory *inventory = &reading->inventory;
	struct visiting visiting = {.visit = visit, .context = context};
	int error = 0;

	progress_begin(reading->doing);
	for (size_t i = 0; i < inventory->count && error == 0; i++) {
		visiting.used = inventory->records[i].used;
		error = interrupt_seen() ? -EINTR
		                         : judge_error(reading, &visiting,
		                                       inventory_read(&reading->directory, inventory->records[i].key,
		                                                      visit_entry, &visiting));
		progress_show(i + 1, inventory->count);
	}
	return error;
}

void reading_end(struct reading *reading)
{
	progress_end();
	inventory_free(&reading->inventory);
}

int reading_report(const struct reading *reading)
{
	if (reading->left_out != 0) {
		console_error("left out: %" PRIu64 " damaged or untrusted %s; 'nvrtccache verify' names them",
		              reading->left_out, reading->left_out == 1 ? "file" : "files");
	}
	if (reading->unreadable != 0) {
		console_error("not readable: %" PRIu64 " %s", reading->unreadable,
		              reading->unreadable == 1 ? "file or directory" : "files or directories");
	}
	return reading->unreadable == 0 ? EXIT_DONE : EXIT_TROUBLE;
}
