/* SPDX-License-Identifier: MIT */
#include "agent/node/outgoing.h"

#include "cache/tools/foreign.h"
#include "cache/tools/inventory.h"
#include "keygen/about.h"
#include "keygen/dependencies.h"

#include <errno.h>

struct taking {
	struct service *service;
	struct results *results;
};

/* Returns whether the fact makes the result path-dependent. That ends about_read(), because one such fact is enough. */
static int find_bound(const struct about_fact *fact, void *context)
{
	(void)context;
	return fact->kind == ABOUT_BOUND;
}

/* Returns whether a result is path-dependent. Without an about section it may be, and counts as such. */
static bool is_bound(const struct entry *entry)
{
	struct section about;

	return !entry_section(entry, ABOUT_SECTION, &about) ||
	       about_read(about.bytes, about.size, find_bound, NULL) != 0;
}

/* Returns whether a result may be uploaded. Readers have the same size limit and would reject a larger value. */
static bool may_go(const struct service *service, const struct entry *entry)
{
	struct section section;

	return !entry_section(entry, ABOUT_SLOPPY_SECTION, &section) &&
	       entry_info(entry)->cost_ns >= service->options.least_cost_ns &&
	       entry_info(entry)->total_size <= service->rules.raw_max && !is_bound(entry);
}

/* Adds a result in front of the others, because entries are read oldest first. Stamps are of no use elsewhere. */
static int take_result(void *context, const struct entry *entry)
{
	struct taking *taking = context;
	struct results *results = taking->results;
	struct entry *neutral;

	if (!may_go(taking->service, entry)) {
		service_count(taking->service, SERVICE_COUNT_left_out, 1);
		return 0;
	}
	if (results->count == STORE_RESULTS_MAX || foreign_neutral(entry, dependencies_forget, &neutral) != 0) {
		return -ENOMEM;
	}
	for (size_t i = results->count++; i > 0; i--) {
		results->entries[i] = results->entries[i - 1];
	}
	results->entries[0] = neutral;
	return 0;
}

/* Errors are ignored, because an entry that was evicted meanwhile or is damaged is simply not uploaded. */
void outgoing_read(struct service *service, const uint8_t key[ENTRY_KEY_BYTES], struct results *ret_results)
{
	struct taking taking = {service, ret_results};

	ret_results->count = 0;
	(void)inventory_read(&service->directory, key, take_result, &taking);
}
