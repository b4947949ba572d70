/* SPDX-License-Identifier: MIT */
#include "agent/node/fetch.h"

#include "agent/wire/value.h"
#include "cache/tools/bundle.h"
#include "cache/tools/foreign.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_MS 60000

/* Counts of a bundle's entries: stored, too large, damaged. */
struct landing {
	struct service *service;
	const _Atomic bool *ending;
	uint64_t results, large, damaged;
};

/*
 * Stores entries until one cannot be read or stored, or the agent ends. An entry that is too large for this cache is
 * skipped. Any other error of the store ends the loop, because it would occur again for each entry.
 */
static enum bundle_found store_entries(struct landing *landing, struct bundle_reader *reader, int *ret_error)
{
	enum bundle_found found = BUNDLE_ENTRY;

	while (found <= BUNDLE_LARGE && !atomic_load(landing->ending)) {
		struct entry *entry = NULL;
		enum foreign_put put;
		int error = 0;

		found = bundle_read_next(reader, &entry, ret_error);
		if (found == BUNDLE_ENTRY) {
			error =
			    foreign_put(landing->service->store, entry, dependencies_forget, dependencies_same, &put);
			entry_unref(entry);
		}
		landing->results += found == BUNDLE_ENTRY && error == 0;
		landing->large += found == BUNDLE_LARGE || error == -EFBIG;
		landing->damaged += found == BUNDLE_DAMAGED;
		if (error != 0 && error != -EFBIG) {
			tally_add(&landing->service->tally, TALLY_store_errors, 1);
			*ret_error = error;
			found = BUNDLE_FAILED;
		}
	}
	return found;
}

/* Prints the result on stderr, where users look when the first kernels are slow. */
static void report_landing(const struct landing *landing, enum bundle_found found, int error)
{
	const char *name = landing->service->options.bundle;

	service_say("bundle %s: %" PRIu64 " %s in the directory", name, landing->results,
	            landing->results == 1 ? "entry is" : "entries are");
	if (landing->large != 0) {
		service_say("bundle %s: left out: %" PRIu64 " larger than an eighth of the size limit", name,
		            landing->large);
	}
	if (found == BUNDLE_FAILED) {
		service_say("bundle %s: %s", name,
		            error == -EBADMSG ? "damaged: it does not have the size that it states" : strerror(-error));
	} else if (found != BUNDLE_END || landing->damaged != 0) {
		service_say("bundle %s: damaged; the entries before the damage are in the directory", name);
	}
}

/* Entries before damaged bytes stay in the directory, because each entry has its own checksum. */
static enum service_bundle land_bundle(struct service *service, struct value_reader *value, const _Atomic bool *ending)
{
	struct landing landing = {.service = service, .ending = ending};
	struct bundle_reader reader;
	enum bundle_found found = BUNDLE_FAILED;
	int error = bundle_read_begin(&reader, service->raw_max, value_read, value);

	if (error == -EPROTONOSUPPORT || error == -EBADMSG) {
		tally_refused(&service->tally, error == -EBADMSG ? VALUE_DAMAGED : VALUE_FOREIGN);
		service_say("bundle %s: %s", service->options.bundle,
		            error == -EBADMSG ? "not a bundle" : "another format");
		return SERVICE_BUNDLE_REFUSED;
	}
	if (error == 0) {
		found = store_entries(&landing, &reader, &error);
	}
	tally_add(&service->tally, TALLY_bundle_results, landing.results);
	tally_add(&service->tally, TALLY_damaged, landing.damaged + (found > BUNDLE_END && found != BUNDLE_FAILED));
	if (!atomic_load(ending)) {
		report_landing(&landing, found, error);
	}
	return found == BUNDLE_END ? SERVICE_BUNDLE_FETCHED : SERVICE_BUNDLE_REFUSED;
}

static enum service_bundle open_bundle(struct service *service, const uint8_t *key, const void *bytes, size_t size,
                                       const _Atomic bool *ending)
{
	struct value_reader value;
	enum service_bundle bundle = SERVICE_BUNDLE_REFUSED;
	enum value_found found =
	    value_open(bytes, size, key, service->keyring, service->options.trust, VALUE_BUNDLE_MAX, &value);

	if (found == VALUE_SOUND) {
		bundle = land_bundle(service, &value, ending);
		value_close(&value);
	} else {
		tally_refused(&service->tally, found);
		service_say("bundle %s: %s", service->options.bundle, value_words(found));
	}
	return bundle;
}

/* Only if the engine did not answer, the bundle is fetched again later: other answers would not change. */
enum service_bundle bundle_fetch(struct service *service, struct engine *engine, const _Atomic bool *ending)
{
	struct engine_name name = {.format = ENTRY_FORMAT};
	struct engine_error error = {.text = ""};
	enum service_bundle bundle = SERVICE_BUNDLE_REFUSED;
	enum engine_answer answer;
	void *value = NULL;
	size_t size = 0;

	value_name_key(service->options.bundle, name.key);
	answer = engine_get(engine, &name, LIMIT_MS, &value, &size, &error);
	service_answered(service, answer, &error);
	switch (answer) {
	case ENGINE_DONE:
		tally_add(&service->tally, TALLY_bundle_bytes, size);
		bundle = open_bundle(service, name.key, value, size, ending);
		break;
	case ENGINE_ABSENT:
		service_say("bundle %s: not found in the engine", service->options.bundle);
		bundle = SERVICE_BUNDLE_ABSENT;
		break;
	case ENGINE_UNREACHABLE:
	case ENGINE_SLOW:
	case ENGINE_BROKEN:
		service_say("bundle %s: %s; will be tried again", service->options.bundle, error.text);
		bundle = SERVICE_BUNDLE_AWAITED;
		break;
	default:
		service_say("bundle %s: %s", service->options.bundle, error.text);
	}
	free(value);
	return bundle;
}
