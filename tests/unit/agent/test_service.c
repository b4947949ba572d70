/* SPDX-License-Identifier: MIT */
/* service: the state that answers of an engine lead to, and its pauses */
#include "agent/node/service.h"
#include "tests/unit/support.h"

static struct service service = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
static const struct engine_error error = {.text = "so"};

static void answered(enum engine_answer answer, int times)
{
	for (int i = 0; i < times; i++) {
		service_answered(&service, SERVICE_GET, answer, &error);
	}
}

static enum engine_state state(void)
{
	struct service_state shown;

	service_show(&service, &shown);
	return shown.state;
}

/* Returns the nanoseconds until the end of the pause. */
static int64_t pause_left(void)
{
	return service.state.until_ns - service_now_ns();
}

Test(service, each_answer_says_in_which_state_the_engine_is)
{
	static const enum engine_state states[ENGINE_ANSWER_COUNT] = {
	    [ENGINE_DONE] = ENGINE_CONNECTED,
	    [ENGINE_ABSENT] = ENGINE_CONNECTED,
	    [ENGINE_TOO_LARGE] = ENGINE_CONNECTED,
	    [ENGINE_FULL] = ENGINE_CONNECTED,
	    [ENGINE_REFUSED] = ENGINE_IS_REFUSED,
	    [ENGINE_UNSUITED] = ENGINE_IS_REFUSED,
	    [ENGINE_UNREACHABLE] = ENGINE_IS_UNREACHABLE,
	    [ENGINE_SLOW] = ENGINE_IS_UNREACHABLE,
	    [ENGINE_BROKEN] = ENGINE_IS_UNREACHABLE,
	};

	cr_expect_eq(state(), ENGINE_STARTING);
	for (int answer = 0; answer < ENGINE_ANSWER_COUNT; answer++) {
		answered((enum engine_answer)answer, 1);
		cr_expect_eq(state(), states[answer], "answer %d", answer);
		cr_expect_str_eq(service.state.why, states[answer] == ENGINE_CONNECTED ? "" : "so");
	}
}

Test(service, a_put_that_is_refused_says_nothing_about_reading)
{
	answered(ENGINE_DONE, 1);
	for (int i = 0; i < 2 * SERVICE_FAILURES; i++) {
		service_answered(&service, SERVICE_PUT, ENGINE_REFUSED, &error);
	}
	cr_expect_eq(state(), ENGINE_CONNECTED);
	cr_expect(service_may_ask(&service));
}

Test(service, failures_in_a_row_pause_an_engine)
{
	for (int i = 0; i < 10; i++) {
		answered(ENGINE_BROKEN, SERVICE_FAILURES - 1);
		cr_assert(service_may_ask(&service));
		answered(ENGINE_ABSENT, 1);
	}
	answered(ENGINE_REFUSED, SERVICE_FAILURES);
	cr_expect_not(service_may_ask(&service));
	answered(ENGINE_DONE, 1);
	cr_expect(service_may_ask(&service));
}

/* Each pause ends early, so that the test need not wait for it. */
Test(service, each_failed_probe_doubles_the_pause_up_to_a_minute)
{
	int64_t longest = INT64_C(1000000000);

	answered(ENGINE_SLOW, SERVICE_FAILURES);
	for (int i = 0; i < 10; i++) {
		cr_expect_leq(pause_left(), longest);
		cr_expect_gt(pause_left(), longest / 2 - INT64_C(400000000));
		cr_expect_not(service_probe_is_due(&service));
		service.state.until_ns = 1;
		cr_assert(service_probe_is_due(&service));
		cr_expect_not(service_probe_is_due(&service), "only one thread probes");
		answered(ENGINE_SLOW, 1);
		longest = longest < INT64_C(32000000000) ? 2 * longest : INT64_C(60000000000);
	}
}

Test(service, requests_that_began_before_a_pause_do_not_prolong_it)
{
	int64_t until;

	answered(ENGINE_SLOW, SERVICE_FAILURES);
	until = service.state.until_ns;
	answered(ENGINE_SLOW, 3);
	cr_expect_eq(service.state.until_ns, until);
}

Test(service, the_first_request_is_a_probe)
{
	cr_assert(service_probe_is_due(&service));
	cr_expect_not(service_probe_is_due(&service));
	answered(ENGINE_ABSENT, 1);
	cr_expect_not(service_probe_is_due(&service));
}

static void *nothing(void *context)
{
	return context;
}

static void *for_ever(void *context)
{
	(void)pthread_mutex_lock(context);
	(void)pthread_mutex_unlock(context);
	return NULL;
}

Test(service, a_thread_that_does_not_end_is_not_joined)
{
	pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, nothing, NULL), 0);
	cr_expect(service_join(thread, service_now_ns() + INT64_C(60) * 1000000000));
	pthread_mutex_lock(&held);
	cr_assert_eq(pthread_create(&thread, NULL, for_ever, &held), 0);
	cr_expect_not(service_join(thread, service_now_ns() + 1000000));
	cr_expect_not(service_join(thread, 0));
	pthread_mutex_unlock(&held);
	cr_expect(service_join(thread, service_now_ns() + INT64_C(60) * 1000000000));
}
