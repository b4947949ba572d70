/* SPDX-License-Identifier: MIT */
/*
 * results: one entry of the cache as `ls` and `show` list it
 *
 * Calling sequence: results_copy(), look at it, results_free(). Errors: -ENOMEM. Threads: one. Ownership: the result
 * has its own copy of the about section, none of the artifacts.
 */
#ifndef CLI_VERBS_RESULTS_H
#define CLI_VERBS_RESULTS_H

#include "cache/entry.h"
#include "cache/json.h"
#include "cli/console/request.h"

struct listed_result {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used_ns; /* of its file: the entries under one key share it */
	uint64_t bytes, cost_ns, created_ns;
	int return_code; /* not 0: a cached failure */
	void *about;     /* NULL: an earlier build made the entry */
	size_t about_size;
	struct result_section {
		uint32_t tag;
		uint64_t size;
	} *sections;
	size_t section_count;
};

int results_copy(const struct entry *entry, int64_t used_ns, struct listed_result *ret_result);
void results_free(struct listed_result *result);

/* What the about section says; nothing where there is none, or it is damaged. Ends with request_free(). */
struct request results_request(const struct listed_result *result);
/* How many bytes an artifact has; 0: its section is missing. */
uint64_t results_artifact_size(const struct listed_result *result, const struct about_fact *artifact);

/* Adds all that is known to an object that the caller has begun. */
void results_json(struct json *json, const struct listed_result *result, const struct request *request);

#endif
