/* SPDX-License-Identifier: MIT */
#include "cli/explanation.h"

#include "keygen/conditions.h"

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

struct span explanation_text(const struct journal_text *text)
{
	return (struct span){text->bytes, text->size};
}

bool explanation_moved(const struct explanation *explanation, struct span *ret_now, struct span *ret_was)
{
	struct span detail = explanation_text(&explanation->record.detail), was;
	const char *middle;

	if (!span_behind(detail, CONDITIONS_BOUND, &was)) {
		return false;
	}
	middle = memmem(was.bytes, was.size, CONDITIONS_NOW, strlen(CONDITIONS_NOW));
	if (!middle) {
		return false;
	}
	ret_now->bytes = middle + strlen(CONDITIONS_NOW);
	ret_now->size = was.size - (size_t)(middle - (const char *)was.bytes) - strlen(CONDITIONS_NOW);
	*ret_was = (struct span){was.bytes, (size_t)(middle - (const char *)was.bytes)};
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
	if (record->is_unfit) {
		return CAUSE_UNFIT;
	}
	if (nearest->place != NEIGHBOUR_NOWHERE && nearest->place != NEIGHBOUR_GONE && nearest->weight == 0) {
		return CAUSE_BROUGHT;
	}
	explanation->kept_ns = record->has_key ? stored_before(journal, record) : 0;
	if (explanation->kept_ns != 0) {
		return CAUSE_GONE;
	}
	if (!explanation->sought.request) {
		return CAUSE_UNTOLD;
	}
	return nearest->place != NEIGHBOUR_NOWHERE ? CAUSE_DIFFERENT : CAUSE_FIRST;
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
		error = neighbours_find(settings, journal, sought, count);
	}
	for (size_t i = 0; i < count && error == 0; i++) {
		struct neighbour *nearest = &sought[i].nearest;

		list[i].sought = sought[i];
		*nearest = (struct neighbour){.place = NEIGHBOUR_NOWHERE};
		nearest = &list[i].sought.nearest;
		if (nearest->place != NEIGHBOUR_NOWHERE &&
		    request_read(nearest->about, nearest->about_size, &list[i].nearest) != 0) {
			nearest->place = NEIGHBOUR_NOWHERE;
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
