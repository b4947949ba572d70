/* SPDX-License-Identifier: MIT */
/* service: the state that answers of an engine lead to, and its pauses */
#include "agent/engine/kind.h"
#include "agent/node/service.h"
#include "cache/calls.h"
#include "tests/unit/support.h"

#define SECOND INT64_C(1000000000)

/* An engine whose answer the test chooses. */
static enum engine_answer next_answer;

static enum engine_answer answer_request(struct engine *engine, struct engine_request *request)
{
	(void)request;
	return engine_tell(engine, next_answer, "so");
}

static struct engine fake = {.ask = answer_request, .address.host = "host"};
static const uint8_t key[ENTRY_KEY_BYTES];
static struct service service = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .pause = {.first_ns = SECOND, .longest_ns = 60 * SECOND},
    .connections = {{PTHREAD_MUTEX_INITIALIZER, &fake}},
};

static enum engine_answer ask(int64_t limit_ns)
{
	return service_ask(&service,
	                   &(struct engine_request){.key = key, .until_ns = call_clock_straight() + limit_ns});
}

/* Makes a request, which the test has asked for. */
static void get_answer(enum engine_answer answer)
{
	next_answer = answer;
	cr_assert_eq(ask(SECOND), answer);
}

static enum engine_state state(void)
{
	return service.state;
}

Test(service, each_answer_says_in_which_state_the_engine_is)
{
	static const enum engine_state states[ENGINE_ANSWER_COUNT] = {
	    [ENGINE_DONE] = STATE_CONNECTED,          [ENGINE_ABSENT] = STATE_CONNECTED,
	    [ENGINE_TOO_LARGE] = STATE_CONNECTED,     [ENGINE_FULL] = STATE_CONNECTED,
	    [ENGINE_REFUSED] = STATE_REFUSED,         [ENGINE_UNSUITED] = STATE_REFUSED,
	    [ENGINE_UNREACHABLE] = STATE_UNREACHABLE, [ENGINE_SLOW] = STATE_UNREACHABLE,
	    [ENGINE_BROKEN] = STATE_UNREACHABLE,
	};
	cr_expect_eq(state(), STATE_STARTING);
	for (int answer = 0; answer < ENGINE_ANSWER_COUNT; answer++) {
		get_answer((enum engine_answer)answer);
		cr_expect_eq(state(), states[answer], "answer %d", answer);
		cr_expect_str_eq(service.why, states[answer] == STATE_CONNECTED ? "" : "host: so");
	}
}

Test(service, a_request_waits_for_a_connection_no_longer_than_its_limit)
{
	pthread_mutex_lock(&service.connections[0].lock);
	cr_expect_eq(ask(SECOND / 200), ENGINE_SLOW);
	cr_expect_eq(state(), STATE_STARTING, "the engine was not asked");
	cr_expect_eq(service.answers[ENGINE_SLOW], 1);
}

Test(service, a_put_that_is_refused_says_nothing_about_reading)
{
	struct engine_request request = {.key = key, .until_ns = call_clock_straight() + SECOND, .is_put = true};

	get_answer(ENGINE_ABSENT);
	next_answer = ENGINE_REFUSED;
	cr_expect_eq(service_ask(&service, &request), ENGINE_REFUSED);
	cr_expect_eq(state(), STATE_CONNECTED);
	cr_expect(service_ask_pause(&service));
}

Test(service, a_failure_pauses_an_engine_until_one_request_is_answered)
{
	cr_assert(service_ask_pause(&service));
	get_answer(ENGINE_SLOW);
	cr_expect_not(service_ask_pause(&service));
	atomic_store(&service.pause.since, 1); /* so that the test need not wait for its end */
	cr_assert(service_ask_pause(&service));
	cr_expect_not(service_ask_pause(&service));
	get_answer(ENGINE_ABSENT);
	cr_expect(service_ask_pause(&service));
}
