/* SPDX-License-Identifier: MIT */
/* event: how one call ended, for log, trace and record */
#include "interpose/compile/event.h"
#include "keygen/about.h"
#include "tests/unit/support.h"

Test(event, the_reason_for_not_caching_is_recorded_beside_the_stale_dependency)
{
	struct event event;

	event_begin(&event, NULL, NULL, REACH_EXPORT, NULL);
	(void)strcpy(event.detail, "header changed: v.h");
	event.record.why = EVENTS_WHY_STALE;
	event_explain_refusal(&event, "return code %d", 5);
	cr_expect_str_eq(event.refusal, "return code 5");
	cr_expect_str_eq(event.detail, "header changed: v.h");
	cr_expect_eq(event.record.why, EVENTS_WHY_STALE);
}

Test(event, waits_are_summed_and_start_with_the_first)
{
	struct event event;

	event_begin(&event, NULL, NULL, REACH_EXPORT, NULL);
	event_note_wait(&event, 2000, 2500);
	event_note_wait(&event, 4000, 4070);
	cr_expect_eq(event.wait_start_ns, 2000);
	cr_expect_eq(event.wait_ns, 570);
}

Test(event, the_reason_unfit_replaces_the_reason_stale)
{
	struct event event;

	event_begin(&event, NULL, NULL, REACH_EXPORT, NULL);
	(void)strcpy(event.detail, "header changed: v.h");
	event.record.why = EVENTS_WHY_STALE;
	event_explain_unfit(&event, "not %s", "now");
	cr_expect_str_eq(event.detail, "not now");
	cr_expect_eq(event.record.why, EVENTS_WHY_UNFIT);
}

static int count_fact(const struct about_fact *fact, void *context)
{
	cr_expect_eq(fact->text[0], 'a' + *(int *)context);
	(*(int *)context)++;
	return 0;
}

Test(event, a_request_that_has_no_room_in_a_record_loses_its_last_facts)
{
	for (size_t size = 900; size < 1200; size++) {
		struct event event;
		const struct events_record *record;
		struct events_text about;
		char text[2000];
		int facts = 0;

		event_begin(&event, NULL, NULL, REACH_EXPORT, NULL);
		event_end(&event, EVENT_STORED, COUNTER_NONE, NULL);
		memset(text, 'x', sizeof(text));
		about_begin(&event.about);
		for (text[0] = 'a'; text[0] < 'a' + 15; text[0]++) {
			about_sized(&event.about, ABOUT_OPTION, text, size);
		}
		record = event_record(&event);
		about = record->parts[EVENTS_ABOUT];
		cr_assert_leq(about.size, EVENTS_TEXT_BYTES);
		cr_expect_eq(about_read(about.bytes, about.size, count_fact, &facts), 0);
		cr_expect(record->is_cut == (facts < 15) && facts >= 10);
		stream_free(&event.about);
	}
}
