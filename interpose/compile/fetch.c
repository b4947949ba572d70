/* SPDX-License-Identifier: MIT */
#include "interpose/compile/attempt.h"

#include "cache/agent.h"
#include "interpose/compile/runtime.h"

static struct agent_options options_now(void)
{
	const struct settings *settings = &runtime_get()->settings;

	return (struct agent_options){
	    .said = runtime_get()->store ? settings->agent : NULL,
	    .directory = {.path = settings->directory, .shared = settings->shared},
	    .wait_ms = settings->agent_wait_ms,
	};
}

static void count_outcome(enum agent_outcome outcome, uint64_t wait_ns)
{
	switch (outcome) {
	case AGENT_FETCH_NOT_ASKED:
		return;
	case AGENT_FETCH_SKIPPED:
		runtime_count(COUNTER_TOTAL_agent_skipped, 1);
		return;
	case AGENT_FETCH_FOUND:
		runtime_count(COUNTER_TOTAL_agent_found, 1);
		break;
	case AGENT_FETCH_ABSENT:
		runtime_count(COUNTER_TOTAL_agent_absent, 1);
		break;
	case AGENT_FETCH_TIMEOUT:
		runtime_count(COUNTER_TOTAL_agent_timeouts, 1);
		break;
	default:
		runtime_count(COUNTER_TOTAL_agent_down, 1);
	}
	runtime_count(COUNTER_TOTAL_agent_asked, 1);
	runtime_count(COUNTER_TOTAL_agent_wait_ns, wait_ns);
}

bool fetch_from_agent(struct attempt *attempt)
{
	const struct settings *settings = &runtime_get()->settings;
	struct event *event = attempt->event;
	struct agent_options options;

	if (!settings->agent || settings->recache || settings->verify || event->agent != AGENT_FETCH_NOT_ASKED) {
		return false;
	}
	options = options_now();
	event->asking.start_ns = runtime_clock();
	event->agent = agent_fetch(&options, attempt->finding.key.bytes, &attempt->question);
	event->asking.ns = (uint64_t)(runtime_clock() - event->asking.start_ns);
	count_outcome(event->agent, event->asking.ns);
	return event->agent == AGENT_FETCH_FOUND;
}

void fetch_judge_agent(const struct attempt *attempt, const struct entry *entry)
{
	/* the compile time that the entry saves; 0 without an entry */
	const enum agent_outcome said = attempt->event->agent;
	uint64_t spared = entry ? entry_info(entry)->cost_ns : 0;
	struct agent_options options;

	if (!runtime_get()->settings.agent) {
		return;
	}
	options = options_now();
	if (said == AGENT_FETCH_FOUND) {
		agent_judge(&options, &attempt->question, spared);
	} else if (entry && said == AGENT_FETCH_NOT_ASKED && attempt->compile_lock.spent > 0) {
		agent_overheard(&options, attempt->compile_lock.spent, spared);
	}
}

void fetch_tell_agent(const struct key *key)
{
	if (runtime_get()->settings.agent) {
		const struct agent_options options = options_now();

		agent_stored(&options, key->bytes);
	}
}
