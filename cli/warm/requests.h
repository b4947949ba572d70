/* SPDX-License-Identifier: MIT */
/*
 * requests: lists the recorded requests of a cache directory (keygen/recording.h)
 *
 * Calling sequence: requests_take(), requests_unify(), requests_open() for one of them, requests_free(). A request is
 * read only if its file is trusted like an entry (cache/trust.h). Errors: negative errno values; files that are damaged
 * or not trusted are counted. Threads: one.
 */
#ifndef CLI_WARM_REQUESTS_H
#define CLI_WARM_REQUESTS_H

#include "cache/directory.h"
#include "keygen/about.h"
#include "keygen/recording.h"

struct warm_request {
	uint8_t key[ENTRY_KEY_BYTES];
	char compiler[16];
	uint64_t cost_ns;
	struct key kin; /* equal for requests that would become the same calls */
	bool is_link;   /* of nvJitLink: it may have artifacts of others as inputs */
};

struct warm_requests {
	struct warm_request *list; /* after requests_unify(): links last, the most expensive first */
	size_t count;
	unsigned damaged;
};

/*
 * Reads the requests whose entries were used within the last `within_ns` nanoseconds; without an entry, the request was
 * written then. Requests are of one kin if they are equal with this architecture ("": with their own).
 */
int requests_take(const struct directory *directory, const char *arch, int64_t within_ns,
                  struct warm_requests *ret_requests);
/* Leaves one request of each kin, the most expensive, and sorts them. */
void requests_unify(struct warm_requests *requests);
void requests_free(struct warm_requests *requests);
/* Opens the file of a request. The caller closes it. */
int requests_open(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], int *ret_file);
/* Read a request. The caller frees the bytes, into which the recording points. */
int requests_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], void **ret_bytes,
                  size_t *ret_size, struct recording *ret_recording);
int requests_load(int file, void **ret_bytes, size_t *ret_size, struct recording *ret_recording);
/*
 * Returns a copy of an option. If it names an architecture, as `seen` finds, `arch` ("sm_100"; "": none) replaces that.
 * The form stays: compute_90a becomes compute_100a. The caller frees it. NULL: no memory.
 */
char *requests_replace_arch(struct about_arch *seen, const char *option, const char *arch);

#endif
