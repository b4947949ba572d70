/* SPDX-License-Identifier: MIT */
/*
 *   listed --> some: read by threads --> visited in order --> the next --> ... --> ended
 */
#include "cli/console/reading.h"

#include "cache/store.h"

#include <errno.h>
#include <stdlib.h>

#define SOME 1024 /* files that are read at once */
#define PART 8    /* of them by one thread, one after the other */

/* One file's. */
struct slot {
	struct entry *entries[STORE_RESULTS_MAX];
	unsigned count;
	int error;
};

struct some {
	struct reading *reading;
	size_t first, count;
	struct slot slots[SOME];
};

static int take(void *context, const struct entry *entry)
{
	struct slot *slot = context;

	/* nobody else has it yet, and it was made to be shared */
	slot->entries[slot->count++] = entry_ref((struct entry *)(uintptr_t)entry);
	return 0;
}

static void read_part(void *context, unsigned number)
{
	struct some *some = context;
	struct reading *reading = some->reading;

	for (size_t i = (size_t)number * PART; i < some->count && i < ((size_t)number + 1) * PART; i++) {
		struct slot *slot = &some->slots[i];

		slot->count = 0;
		slot->error = chore_stopped(&reading->crew.chore)
		                  ? -EINTR
		                  : inventory_read(&reading->directory, reading->inventory.records[some->first + i].key,
		                                   take, slot);
	}
}

/* As many of the next as memory is meant for. */
static size_t count_next(const struct inventory *inventory, size_t first)
{
	uint64_t bytes = 0;
	size_t count = 0;

	while (count < SOME && first + count < inventory->count) {
		bytes += inventory->records[first + count].size;
		if (count > 0 && bytes > READING_BYTES) {
			break;
		}
		count++;
	}
	return count;
}

static int visit_some(struct some *some, reading_visit *visit, void *context)
{
	struct reading *reading = some->reading;
	int rc = 0;

	for (size_t i = 0; i < some->count; i++) {
		struct slot *slot = &some->slots[i];

		if (slot->error == -ENOMEM || slot->error == -EINTR) {
			rc = rc < 0 ? rc : slot->error;
		} else if (slot->error == -EBADMSG || slot->error == -EPERM) {
			reading->left_out++;
		} else if (slot->error != 0 && slot->error != -ENOENT) {
			reading->unreadable++;
		}
		for (unsigned j = 0; j < slot->count; j++) {
			rc = rc < 0
			         ? rc
			         : visit(context, slot->entries[j], reading->inventory.records[some->first + i].used);
			entry_unref(slot->entries[j]);
		}
		chore_add(&reading->crew.chore, 1);
		chore_tell(&reading->crew.chore);
	}
	return rc;
}

int reading_begin(const struct settings *settings, const char *doing, struct reading *ret_reading)
{
	int rc;

	*ret_reading = (struct reading){.directory = {.path = settings->directory, .shared = settings->shared}};
	crew_begin(&ret_reading->crew, "listing", doing);
	rc = inventory_take(&ret_reading->directory, &ret_reading->crew.chore, &ret_reading->inventory);
	ret_reading->unreadable = ret_reading->inventory.failures;
	return rc;
}

int reading_each(struct reading *reading, reading_visit *visit, void *context)
{
	const struct inventory *inventory = &reading->inventory;
	struct some *some = malloc(sizeof(*some));
	int rc = 0;

	if (!some) {
		return -ENOMEM;
	}
	some->reading = reading;
	chore_begin(&reading->crew.chore, CHORE_WORKING, inventory->count, CHORE_KNOWN);
	for (some->first = 0; some->first < inventory->count && rc == 0; some->first += some->count) {
		some->count = count_next(inventory, some->first);
		chore_each(&reading->crew.chore, (unsigned)((some->count + PART - 1) / PART), read_part, some);
		rc = visit_some(some, visit, context);
	}
	free(some);
	return rc;
}

void reading_end(struct reading *reading)
{
	crew_end(&reading->crew);
	inventory_free(&reading->inventory);
}
