/* SPDX-License-Identifier: MIT */
/*
 * results: the properties of one entry, for all verbs
 *
 * Calling sequence: results_request(), the other functions, request_free(). Threads: one. Ownership: the request points
 * into the entry.
 */
#ifndef CLI_VERBS_RESULTS_H
#define CLI_VERBS_RESULTS_H

#include "cache/entry.h"
#include "cache/json.h"
#include "cli/console/request.h"

/* Reads the about section; the request is empty if that is missing or damaged. */
struct request results_request(const struct entry *entry);
/* Returns the bytes of an artifact; NULL if its section is missing. */
struct span results_artifact(const struct entry *entry, const struct about_fact *artifact);
/* Other than 0: a cached failure. */
int results_return_code(const struct entry *entry);

/* Adds all properties as members to the JSON object that the caller has begun. `used_ns`: that of the entry's file. */
void results_json(struct json *json, const struct entry *entry, int64_t used_ns, const struct request *request);

/* For printf(): the column of the labels that `show` prints. */
#define RESULTS_LABEL "%-10s"

/*
 * Checks the dependencies of an entry, and adds them to the JSON object that the caller has begun, or prints them if
 * `json` is NULL.
 */
void results_states(const struct entry *entry, const struct request *request, struct json *json);

#endif
