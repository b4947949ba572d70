/* SPDX-License-Identifier: MIT */
/*
 * explanation: why calls of a journal were misses, by what the cache holds
 *
 * Calling sequence: explanations_make() of some records of a journal, look, explanations_free(). Errors: negative errno
 * values. Threads: one. Ownership: records and journal are the caller's, and stay until the end.
 */
#ifndef CLI_EXPLANATION_H
#define CLI_EXPLANATION_H

#include "cache/counters.h"
#include "cache/journal.h"
#include "cache/json.h"
#include "cli/explain/differences.h"
#include "cli/explain/neighbour.h"

/* X(NAME, for machines) */
#define CAUSES(X)                                                                              \
	X(UNTOLD, "unknown")      /* the record says too little */                             \
	X(BROUGHT, "brought")     /* it is there, and was not to be had then */                \
	X(PASSED, "passed")       /* nothing was looked up: the record's reason */             \
	X(STALE, "stale")         /* it was kept, and something that it hangs on is another */ \
	X(UNFIT, "unfit")         /* a result was there, or not looked for: the detail */      \
	X(GONE, "gone")           /* it was kept, and is not any more */                       \
	X(DIFFERENT, "different") /* from the nearest that was kept */                         \
	X(FIRST, "first")         /* nothing like it was kept before */

enum cause {
#define CAUSE_ENUM(name, text) CAUSE_##name,
	CAUSES(CAUSE_ENUM)
#undef CAUSE_ENUM
};

const char *cause_name(enum cause cause);

struct explanation {
	struct journal_record record;
	struct request request; /* empty where the record's about cannot be read */
	struct sought sought;
	struct request nearest; /* of sought.nearest, if it is there */
	void *about;            /* of the result that was stored, where the record had no room for all of it; or NULL */
	enum cause cause;
	uint64_t kept_ns; /* CAUSE_GONE: when it was stored */
};

/* `journal`: what was stored when. */
int explanations_make(const struct settings *settings, const struct journal *journal,
                      const struct journal_record *records, size_t count, struct explanation **ret_list);
void explanations_free(struct explanation *list, size_t count);

/* Is a result that does not hold here bound to another directory than this? Then, which of the two. */
bool explanation_moved(const struct explanation *explanation, struct span *ret_now, struct span *ret_was);

/* Of a result that does not hold here: which -I led elsewhere for it. */
void explanation_tell_moved(const struct explanation *explanation, difference_visit *each, void *context);

struct span explanation_text(const struct journal_text *text);

/* COUNTER_NONE: no counter is called so that stands for a reason. `name` need not end. */
enum counter reasons_find(const char *name, size_t size);
/* One or two sentences. NULL: it stands for no reason. */
const char *reasons_words(enum counter reason);

/* On stdout, for people (explain_words.c). */
void explain_in_words(const struct explanation *explanation);
/* The same as an object (explain_json.c). */
void explain_json(struct json *json, const struct explanation *explanation);

#endif
