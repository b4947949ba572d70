/* SPDX-License-Identifier: MIT */
#include "interpose/compile/attempt.h"

#include <stdlib.h>

struct attempt *attempt_new(struct event *event)
{
	struct attempt *attempt = calloc(1, sizeof(*attempt));

	if (attempt) {
		attempt->event = event;
	}
	return attempt;
}

/*
 * Also releases the compile lock, with the outcome recorded so far, so that waiting processes continue even if the
 * host's thread is cancelled in the real compilation.
 */
void attempt_free(struct attempt *attempt)
{
	if (!attempt) {
		return;
	}
	compile_lock_release(&attempt->compile_lock, attempt->outcome);
	request_clear(&attempt->request);
	trace_free(&attempt->observed.trace);
	snapshot_free(attempt->observed.told);
	free((void *)attempt->observed.given.options);
	free(attempt);
}
