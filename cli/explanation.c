/* SPDX-License-Identifier: MIT */
#include "cli/explanation.h"

#include "cache/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *cause_name(enum cause cause)
{
	static const char *const names[] = {
#define CAUSE_TEXT(name, text) [CAUSE_##name] = (text),
	    CAUSES(CAUSE_TEXT)
#undef CAUSE_TEXT
	};

	return names[cause];
}

bool journal_text_is(const struct journal_text *text, const char *other)
{
	return text->size == strlen(other) && memcmp(text->bytes, other, text->size) == 0;
}

struct span explanation_text(const struct journal_text *text)
{
	return (struct span){text->bytes, text->size};
}

/* The directory that a numbered root is. */
static struct span root_of(const struct request *request, struct span detail)
{
	struct span rest;
	size_t number;

	if (span_behind(detail, "root ", &rest) && rest.size > 0) {
		number = (size_t)(*(const char *)rest.bytes - '0');
		if (number < request->root_count && number < 10) {
			return request->roots[number];
		}
	}
	return (struct span){NULL, 0};
}

bool explanation_moved(const struct explanation *explanation, struct span *ret_now, struct span *ret_was)
{
	struct span detail = explanation_text(&explanation->record.detail);
	struct span now = root_of(&explanation->request, detail), was = root_of(&explanation->nearest, detail);

	if (now.size == 0 || was.size == 0) {
		return false;
	}
	*ret_now = now;
	*ret_was = was;
	return true;
}

/* When the same key was stored before that; 0: never, as far as the journal goes. */
static uint64_t stored_before(const struct journal *journal, const struct journal_record *record)
{
	uint64_t when = 0;

	for (size_t i = 0; i < journal->count; i++) {
		const struct journal_record *other = &journal->records[i];

		if (other->outcome == JOURNAL_STORED && other->has_key && other->when_ns < record->when_ns &&
		    other->when_ns > when && memcmp(other->key, record->key, ENTRY_KEY_BYTES) == 0) {
			when = other->when_ns;
		}
	}
	return when;
}

static enum cause judge(const struct journal *journal, struct explanation *explanation)
{
	const struct journal_record *record = &explanation->record;
	const struct neighbour *nearest = &explanation->sought.nearest;

	if (record->outcome == JOURNAL_PASSED) {
		return CAUSE_PASSED;
	}
	if (record->is_stale) {
		return CAUSE_STALE;
	}
	if (record->outcome == JOURNAL_STORED && record->detail.size > 0) {
		return CAUSE_UNFIT;
	}
	if (nearest->is_there && nearest->weight == 0) {
		return CAUSE_UNTOLD; /* the same was there: it came while the call was on its way, or was brought later */
	}
	explanation->kept_ns = record->has_key ? stored_before(journal, record) : 0;
	if (explanation->kept_ns != 0) {
		return CAUSE_GONE;
	}
	if (!explanation->sought.request) {
		return CAUSE_UNTOLD;
	}
	return nearest->is_there ? CAUSE_DIFFERENT : CAUSE_FIRST;
}

static void begin(struct explanation *explanation, const struct journal_record *record)
{
	explanation->record = *record;
	explanation->sought.before_ns = record->when_ns > record->took_ns ? record->when_ns - record->took_ns : 0;
	if (request_read(record->about.bytes, record->about.size, &explanation->request) == 0 &&
	    record->outcome != JOURNAL_PASSED) {
		explanation->sought.request = &explanation->request;
		explanation->sought.key = record->has_key ? explanation->record.key : NULL;
	}
}

int explanations_make(const struct settings *settings, const struct journal *journal,
                      const struct journal_record *records, size_t count, struct explanation **ret_list)
{
	struct explanation *list = calloc(count, sizeof(*list));
	struct sought *sought = calloc(count, sizeof(*sought));
	bool any = false;
	int error = list && sought ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && error == 0; i++) {
		begin(&list[i], &records[i]);
		sought[i] = list[i].sought;
		any |= sought[i].request != NULL;
	}
	if (error == 0 && any) {
		error = neighbours_find(settings, sought, count);
	}
	for (size_t i = 0; i < count && error == 0; i++) {
		struct neighbour *nearest = &sought[i].nearest;

		list[i].sought = sought[i];
		*nearest = (struct neighbour){.is_there = false};
		nearest = &list[i].sought.nearest;
		if (nearest->is_there) {
			nearest->is_there = request_read(nearest->about, nearest->about_size, &list[i].nearest) == 0;
		}
		list[i].cause = judge(journal, &list[i]);
	}
	if (sought) {
		neighbours_free(sought, count);
	}
	free(sought);
	if (error != 0) {
		explanations_free(list, list ? count : 0);
		return error;
	}
	*ret_list = list;
	return 0;
}

void explanations_free(struct explanation *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		request_free(&list[i].request);
		request_free(&list[i].nearest);
		free(list[i].sought.nearest.about);
	}
	free(list);
}
