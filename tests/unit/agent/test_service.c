/* SPDX-License-Identifier: MIT */
/* service: which answers of an engine have it left alone */
#include "agent/service.h"

#include <criterion/criterion.h>

static bool is_left_alone_after(enum engine_answer answer)
{
	struct service service = {.says = ""};
	struct engine_error error = {.text = "so"};
	bool may;

	tally_begin(&service.tally);
	pthread_mutex_init(&service.lock, NULL);
	for (int i = 0; i < BREAKER_WINDOW; i++) {
		service_answered(&service, answer, &error);
	}
	may = service_may_ask(&service);
	pthread_mutex_destroy(&service.lock);
	return !may;
}

Test(service, an_engine_that_does_not_answer_is_left_alone_and_one_that_refuses_is_not)
{
	for (int answer = 0; answer < ENGINE_ANSWERS; answer++) {
		bool fails = answer == ENGINE_UNREACHABLE || answer == ENGINE_SLOW || answer == ENGINE_BROKEN;

		cr_expect_eq(is_left_alone_after((enum engine_answer)answer), fails, "answer %d", answer);
	}
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

Test(service, a_thread_that_does_not_end_is_left)
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
