/* SPDX-License-Identifier: MIT */
/*
 * Memory is searched first, by fingerprint. Only if that fails is the key computed, which costs ten times as much, and
 * the directory and the lower caches are searched.
 */
#include "interpose/compile/look_up.h"

#include "cache/agent_client.h"
#include "interpose/compile/error_text.h"
#include "interpose/compile/log.h"
#include "interpose/compile/runtime.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A look-up in progress, passed to its callbacks. */
struct looking {
	const struct request *request;
	struct event *event;
	struct finding *finding;
	struct dependencies_budget budget; /* of all results that are checked */
};

/* Returns true if the dependencies hold; else the event has the reason. */
static bool judge_dependencies(void *context, const void *dependencies, size_t size)
{
	struct looking *looking = context;
	char other
	    [EVENT_DETAIL_BYTES]; /* for later entries: the newest entry comes first, and only its reason is reported */
	char *why = looking->event->detail[0] == '\0' ? looking->event->detail : other;

	if (dependencies_hold(dependencies, size, &looking->request->roots, &looking->budget, why,
	                      EVENT_DETAIL_BYTES)) {
		looking->event->detail[0] = '\0';
		return true;
	}
	log_write(LOG_DEBUG, "entry is not valid: %s", why);
	return false;
}

/* Searches the directory, then the lower caches in order, until one of them has an entry whose dependencies hold. */
static int look_on_disk(struct looking *looking, struct entry **ret_entry)
{
	const struct runtime *runtime = runtime_get();
	const uint8_t *key = looking->finding->key.bytes;
	int error = runtime->store ? store_get(runtime->store, key, judge_dependencies, looking, ret_entry) : -ENOENT;

	if (error != 0 && error != -ENOENT && error != -ESTALE) {
		char text[ERROR_TEXT_BYTES];

		log_write(LOG_WARNING, "look-up failed: %s: %s", runtime->settings.directory, error_text(error, text));
		counters_add(runtime_error_counter(error, COUNTER_ERRORS_read), 1);
	}
	for (int i = 0; i < runtime->lower_count && error != 0; i++) {
		int below = store_get(&runtime->lower[i], key, judge_dependencies, looking, ret_entry);

		error = below == 0 || below == -ESTALE ? below : error;
	}
	return error;
}

/* Searches memory. An entry that only its owner may read is not served after the process has changed its user. */
static struct entry *look_in_memory(struct looking *looking)
{
	const struct finding *finding = looking->finding;
	struct entry *entry = memory_get(runtime_get()->memory, finding->fingerprint.low, finding->fingerprint.high,
	                                 judge_dependencies, looking);

	if (entry && entry_info(entry)->reader != ENTRY_ANYBODY && entry_info(entry)->reader != geteuid()) {
		entry_unref(entry);
		return NULL;
	}
	return entry;
}

struct entry *look_up(const struct request *request, struct event *event, struct finding *ret_finding)
{
	const struct runtime *runtime = runtime_get();
	struct looking looking = {request, event, ret_finding, DEPENDENCIES_BUDGET};
	struct entry *entry = NULL;
	int error;

	event->detail[0] = '\0';
	event->record.why = EVENTS_WHY_UNKNOWN;
	digest_fingerprint(&runtime->secret, request->spans, request->span_count, &ret_finding->fingerprint);
	if (runtime->settings.recache) {
		event_explain_unfit(event, "NVRTCCACHE_RECACHE is set, so nothing was looked up");
		digest_key(request->spans, request->span_count, &ret_finding->key);
		return NULL;
	}
	entry = look_in_memory(&looking);
	ret_finding->in_memory = entry != NULL;
	if (entry) {
		/* The entry contains its key, so a hit in memory does not have to digest the request. */
		memcpy(ret_finding->key.bytes, entry_info(entry)->key, sizeof(ret_finding->key.bytes));
		return entry;
	}
	digest_key(request->spans, request->span_count, &ret_finding->key);
	error = look_on_disk(&looking, &entry);
	if (error == -ESTALE) {
		event->record.why = EVENTS_WHY_STALE;
	}
	if (error != 0) {
		return NULL;
	}
	memory_put(runtime->memory, ret_finding->fingerprint.low, ret_finding->fingerprint.high, entry);
	return entry;
}

/* ---- fetch: the question to the node's agent, after a miss */

static void count_outcome(enum agent_outcome outcome, uint64_t wait_ns)
{
	static const enum counter counters[AGENT_OUTCOME_COUNT] = {
	    [AGENT_FETCH_SKIPPED] = COUNTER_TOTAL_agent_skipped,
	    [AGENT_FETCH_FOUND] = COUNTER_TOTAL_agent_found,
	    [AGENT_FETCH_ABSENT] = COUNTER_TOTAL_agent_absent,
	    [AGENT_FETCH_TIMEOUT] = COUNTER_TOTAL_agent_timeouts,
	};

	if (outcome == AGENT_FETCH_NOT_ASKED) {
		return;
	}
	counters_add(counters[outcome] ? counters[outcome] : COUNTER_TOTAL_agent_down, 1);
	if (outcome != AGENT_FETCH_SKIPPED) {
		counters_add(COUNTER_TOTAL_agent_asked, 1);
		counters_add(COUNTER_TOTAL_agent_wait_ns, wait_ns);
	}
}

bool fetch_from_agent(struct attempt *attempt)
{
	const struct settings *settings = &runtime_get()->settings;
	struct event *event = attempt->event;
	int64_t start;

	if (!settings->agent || settings->recache || settings->verify || event->record.agent != AGENT_FETCH_NOT_ASKED) {
		return false;
	}
	start = runtime_clock();
	event->record.agent = agent_fetch(&runtime_get()->agent, attempt->finding.key.bytes);
	event->agent_ns = (uint64_t)(runtime_clock() - start);
	count_outcome(event->record.agent, event->agent_ns);
	return event->record.agent == AGENT_FETCH_FOUND;
}

void fetch_judge_agent(const struct attempt *attempt, const struct entry *entry)
{
	const struct runtime *runtime = runtime_get();
	const enum agent_outcome said = attempt->event->record.agent;
	/* the compile time that the entry saves; 0 without an entry */
	uint64_t spared = entry ? entry_info(entry)->cost_ns : 0;

	if (said == AGENT_FETCH_FOUND) {
		agent_weigh(&runtime->agent, AGENT_ASKED, (int64_t)attempt->event->agent_ns, spared);
	} else if (entry && said == AGENT_FETCH_NOT_ASKED && attempt->compile_lock.spent > 0) {
		agent_weigh(&runtime->agent, AGENT_OVERHEARD, attempt->compile_lock.spent, spared);
	}
}
