/* SPDX-License-Identifier: MIT */
/* service: which answers of an engine pause it */
#include "agent/node/service.h"
#include "tests/unit/support.h"

static struct service service;
static const struct engine_error error = {.text = "so"};

static bool is_left_alone_after(enum engine_answer answer, int times)
{
	tally_begin(&service.tally);
	for (int i = 0; i < times; i++) {
		service_answered(&service, answer, &error);
	}
	return !service_may_ask(&service);
}

Test(service, only_failures_to_answer_pause_an_engine)
{
	for (int answer = 0; answer < ENGINE_ANSWERS; answer++) {
		bool fails = answer == ENGINE_UNREACHABLE || answer == ENGINE_SLOW || answer == ENGINE_BROKEN;

		service = (struct service){.says = ""};
		cr_expect_not(is_left_alone_after((enum engine_answer)answer, SERVICE_FAILURES - 1), "answer %d",
		              answer);
		cr_expect_eq(is_left_alone_after((enum engine_answer)answer, 1), fails, "answer %d", answer);
	}
}

Test(service, failures_between_answers_do_not_pause_an_engine)
{
	for (int i = 0; i < 100; i++) {
		cr_expect_not(is_left_alone_after(ENGINE_BROKEN, SERVICE_FAILURES - 1));
		cr_expect_not(is_left_alone_after(ENGINE_ABSENT, 1));
	}
}

Test(service, an_engine_with_failing_puts_is_still_read_and_probed_by_one_put)
{
	struct service_puts puts = {.seen = 0};

	tally_begin(&service.tally);
	for (int i = 0; i < SERVICE_FAILURES; i++) {
		cr_expect(service_may_put(&puts));
		service_put(&service, &puts, ENGINE_SLOW, &error);
	}
	cr_expect(service_may_ask(&service));
	cr_expect_not(service_may_put(&puts));
	atomic_store(&puts.breaker.until, 1); /* the pause is over */
	cr_expect(service_may_put(&puts));
	cr_expect_neq(puts.seen, 0);
	cr_expect(service_may_put(&puts), "it was not made yet");
	service_put(&service, &puts, ENGINE_DONE, &error);
	cr_expect(service_may_put(&puts));
	cr_expect_eq(puts.seen, 0);
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
	cr_expect_eq(service_join(thread, service_now_ns() + INT64_C(60) * 1000000000), SERVICE_JOINED);
	pthread_mutex_lock(&held);
	cr_assert_eq(pthread_create(&thread, NULL, for_ever, &held), 0);
	cr_expect_eq(service_join(thread, service_now_ns() + 1000000), SERVICE_LEFT);
	cr_expect_eq(service_join(thread, 0), SERVICE_LEFT);
	pthread_mutex_unlock(&held);
	cr_expect_eq(service_join(thread, service_now_ns() + INT64_C(60) * 1000000000), SERVICE_JOINED);
}
