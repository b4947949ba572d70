/* SPDX-License-Identifier: MIT */
/*
 * results: what lies in a cache directory, as it says of itself (keygen/about.h)
 *
 * Calling sequence: results_take(), look at the list, results_free(). Errors: as of cache/tools/inventory.h; a result that is
 * damaged or not trusted is left out and counted. Memory: some 700 bytes a result. Threads: one. Ownership: the list's.
 */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include "cache/entry.h"
#include "cache/json.h"
#include "cache/settings.h"
#include "keygen/about.h"

struct listed_result {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used_ns; /* of its file: the results of one key share it */
	uint64_t bytes, cost_ns, created_ns;
	int return_code; /* not 0: it is a failure that is kept */
	void *about;     /* NULL: it is from before there were any */
	size_t about_size;
	struct {
		uint32_t tag;
		uint64_t size;
	} *sections;
	size_t section_count;
};

struct results {
	struct listed_result *list; /* newest use first */
	size_t count, capacity;
	uint64_t left_out;   /* damaged, or not trusted */
	uint64_t unreadable; /* files, and directories of files */
};

int results_take(const struct settings *settings, struct results *ret_results);
void results_free(struct results *results);

/* One entry, whose file was used then. -ENOMEM. */
int results_of_entry(const struct entry *entry, int64_t used_ns, struct listed_result *ret_result);
void results_free_one(struct listed_result *result);

/* The first fact of a kind; false: there is none. */
bool results_fact(const struct listed_result *result, enum about_kind kind, struct about_fact *ret_fact);
/* "sm_90": what -arch says in whichever spelling; false: nothing. */
bool results_arch(const struct listed_result *result, struct about_fact *ret_fact);
/* How many bytes an artifact has; 0: its section is not there. */
uint64_t results_artifact_size(const struct listed_result *result, const struct about_fact *artifact);

/* The members of an object: everything of it that is known. */
void results_json(struct json *json, const struct listed_result *result);

#endif
