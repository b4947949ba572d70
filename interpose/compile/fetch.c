/* SPDX-License-Identifier: MIT */
#include "interpose/compile/fetch.h"

#include "cache/agent.h"
#include "interpose/compile/event.h"
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

static void count(enum agent_outcome outcome, uint64_t wait_ns)
{
	switch (outcome) {
	case AGENT_FETCH_NOT_ASKED:
		return;
	case AGENT_FETCH_CLOSED:
		runtime_count(COUNTER_TOTAL_agent_closed, 1);
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
	struct agent_options options;
	enum agent_outcome outcome;
	int64_t start;
	int64_t end;

	if (!settings->agent || settings->recache || settings->verify || attempt->agent_asked) {
		return false;
	}
	attempt->agent_asked = true;
	options = options_now();
	start = runtime_clock();
	outcome = agent_fetch(&options, attempt->key.bytes, &attempt->agent_question);
	end = runtime_clock();
	event_note_agent(attempt->event, outcome, start, end);
	count(outcome, (uint64_t)(end - start));
	attempt->agent_found = outcome == AGENT_FETCH_FOUND;
	return attempt->agent_found;
}

void fetch_judge_agent(const struct attempt *attempt, const struct entry *entry)
{
	uint64_t spared = entry ? entry_info(entry)->cost_ns : 0;

	if (attempt->agent_found) {
		agent_judge(&attempt->agent_question, spared);
	} else if (entry && !attempt->agent_asked && attempt->compile_lock.spent > 0 && runtime_get()->settings.agent) {
		const struct agent_options options = options_now();

		agent_overheard(&options, attempt->compile_lock.spent, spared);
	}
}

void fetch_tell_agent(const struct attempt *attempt)
{
	if (runtime_get()->settings.agent) {
		const struct agent_options options = options_now();

		agent_stored(&options, attempt->key.bytes);
	}
}
