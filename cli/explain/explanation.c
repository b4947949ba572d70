/* SPDX-License-Identifier: MIT */
#include "cli/explain/explanation.h"

#include "cache/tools/inventory.h"
#include "keygen/dependencies.h"

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

	if (!span_behind(detail, DEPENDENCIES_BOUND, &was)) {
		return false;
	}
	middle = memmem(was.bytes, was.size, DEPENDENCIES_NOW, strlen(DEPENDENCIES_NOW));
	if (!middle) {
		return false;
	}
	ret_now->bytes = middle + strlen(DEPENDENCIES_NOW);
	ret_now->size = was.size - (size_t)(middle - (const char *)was.bytes) - strlen(DEPENDENCIES_NOW);
	*ret_was = (struct span){was.bytes, (size_t)(middle - (const char *)was.bytes)};
	return true;
}

void explanation_tell_moved(const struct explanation *explanation, difference_visit *each, void *context)
{
	const struct neighbour *nearest = &explanation->sought.nearest;

	if (nearest->place != NEIGHBOUR_NOWHERE && nearest->weight == 0) {
		differences_tell_moved(&explanation->request, &explanation->nearest, each, context);
	}
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

/* The latest result of the key that the call can have stored. */
static int take_about(void *context, const struct entry *entry)
{
	struct explanation *explanation = context;
	struct journal_record *record = &explanation->record;
	struct section about;
	void *copy;

	if (entry_info(entry)->created_ns > record->when_ns || !entry_section(entry, ABOUT_SECTION, &about)) {
		return 0;
	}
	copy = malloc(about.size + 1);
	if (!copy) {
		return -ENOMEM;
	}
	memcpy(copy, about.bytes, about.size);
	free(explanation->about);
	explanation->about = copy;
	record->about = (struct journal_text){copy, about.size};
	record->is_cut = false;
	return 0;
}

/* What a record has no room for is in the result that was stored, as long as that is there. */
static void complete(const struct settings *settings, struct explanation *explanation)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	const struct journal_record *record = &explanation->record;

	if (record->is_cut && record->has_key && record->outcome == JOURNAL_STORED) {
		(void)inventory_read(&directory, record->key, take_about, explanation);
	}
}

static void begin(const struct settings *settings, struct explanation *explanation, const struct journal_record *given)
{
	const struct journal_record *record = &explanation->record;

	explanation->record = *given;
	complete(settings, explanation);
	explanation->sought.before_ns = record->when_ns > record->took_ns ? record->when_ns - record->took_ns : 0;
	if (request_read(record->about.bytes, record->about.size, &explanation->request) == 0 &&
	    record->outcome != JOURNAL_PASSED) {
		explanation->request.is_cut = record->is_cut;
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
		begin(settings, &list[i], &records[i]);
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
		free(list[i].about);
	}
	free(list);
}
