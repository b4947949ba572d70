/* SPDX-License-Identifier: MIT */
/* event: what one call records for log, trace and journal */
#include "interpose/compile/event.h"
#include "tests/unit/support.h"

Test(event, the_reason_for_not_caching_is_recorded_beside_the_stale_dependency)
{
	struct event event;

	event_begin(&event, NULL, NULL, NULL, NULL, 1000);
	(void)strcpy(event.detail, "header changed: v.h");
	event.why = EVENT_WHY_STALE;
	event_explain_refusal(&event, "return code %d", 5);
	cr_expect_str_eq(event.refusal, "return code 5");
	cr_expect_str_eq(event.detail, "header changed: v.h");
	cr_expect_eq(event.why, EVENT_WHY_STALE);
}

Test(event, waits_are_summed_and_start_with_the_first)
{
	struct event event;

	event_begin(&event, NULL, NULL, NULL, NULL, 1000);
	event_note_wait(&event, 2000, 2500);
	event_note_wait(&event, 4000, 4070);
	cr_expect_eq(event.wait.start_ns, 2000);
	cr_expect_eq(event.wait.ns, 570);
}

Test(event, the_reason_unfit_replaces_the_reason_stale)
{
	struct event event;

	event_begin(&event, NULL, NULL, NULL, NULL, 1000);
	(void)strcpy(event.detail, "header changed: v.h");
	event.why = EVENT_WHY_STALE;
	event_explain_unfit(&event, "not %s", "now");
	cr_expect_str_eq(event.detail, "not now");
	cr_expect_eq(event.why, EVENT_WHY_UNFIT);
}
