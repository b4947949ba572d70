/* SPDX-License-Identifier: MIT */
/*
 * requests: lists the recorded requests of a cache directory (keygen/recording.h)
 *
 * Calling sequence: requests_take(), requests_read() for one of them; the caller frees `list`. A request is
 * read only if its file is trusted like an entry (cache/trust.h). Errors: negative errno values; files that are damaged
 * or not trusted are counted. Threads: one.
 */
#ifndef CLI_WARM_REQUESTS_H
#define CLI_WARM_REQUESTS_H

#include "cache/directory.h"
#include "keygen/recording.h"

struct warm_request {
	uint8_t key[ENTRY_KEY_BYTES];
	char compiler[16];
	uint64_t cost_ns;
	bool is_link; /* of nvJitLink: it may have artifacts of others as inputs */
};

struct warm_requests {
	struct warm_request *list; /* links last, the most expensive first */
	size_t count;
	unsigned damaged;
};

/*
 * Reads the requests whose entries were used within the last `within_ns` nanoseconds; without an entry, the request was
 * written then.
 */
int requests_take(const struct directory *directory, int64_t within_ns, struct warm_requests *ret_requests);
/* Read a request. The caller frees the bytes, into which the recording points. */
int requests_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], void **ret_bytes,
                  struct recording *ret_recording);
int requests_load(int file, void **ret_bytes, struct recording *ret_recording);

#endif
