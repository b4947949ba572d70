/* SPDX-License-Identifier: MIT */
/*
 * results: the properties of one entry that `ls` and `show` print
 *
 * Calling sequence: results_copy(), the other functions, results_free(). Errors: -ENOMEM. Threads: one. Ownership: the
 * result owns a copy of the about section and has no copy of the artifacts.
 */
#ifndef CLI_VERBS_RESULTS_H
#define CLI_VERBS_RESULTS_H

#include "cache/entry.h"
#include "cache/json.h"
#include "cli/console/request.h"

struct listed_result {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used_ns; /* time of use of the file, which all entries under a key share */
	uint64_t bytes, cost_ns, created_ns;
	int return_code; /* other than 0: a cached failure */
	void *about;     /* NULL: an earlier build stored the entry */
	size_t about_size;
	struct result_section {
		uint32_t tag;
		uint64_t size;
	} *sections;
	size_t section_count;
};

int results_copy(const struct entry *entry, int64_t used_ns, struct listed_result *ret_result);
void results_free(struct listed_result *result);

/* Reads the about section; the request is empty if that is missing or damaged. The caller calls request_free(). */
struct request results_request(const struct listed_result *result);
/* Returns the size of an artifact in bytes; 0 if its section is missing. */
uint64_t results_artifact_size(const struct listed_result *result, const struct about_fact *artifact);

/* Adds all properties as members to the JSON object that the caller has begun. */
void results_json(struct json *json, const struct listed_result *result, const struct request *request);

/* For printf(): the column of the labels that `show` prints. */
#define RESULTS_LABEL "%-10s"

/*
 * Checks the dependencies of an entry, and adds them to the JSON object that the caller has begun, or prints them if
 * `json` is NULL.
 */
void results_states(const struct entry *entry, const struct request *request, struct json *json);

#endif
