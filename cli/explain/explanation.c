/* SPDX-License-Identifier: MIT */
/*
 * All requests are compared with an entry while it is in memory, so that every entry is read once, even if many calls
 * are explained. Each explanation has a copy of the about section of its closest entry so far.
 * The cause is determined last. find_cause() makes several tests in order and stops at the first that applies: first
 * tests of the record, then tests of what the cache and the record contain.
 */
#include "cli/explain/explanation.h"

#include "cli/console/reading.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct search {
	struct explanation *list;
	size_t count;
	enum closest_place place;
};

/* Replaces `*copy` by a copy of an about section, because an entry is released after the visit. */
static int copy_about(struct span about, void **copy)
{
	void *made = malloc(about.size + 1);

	if (!made) {
		return -ENOMEM;
	}
	memcpy(made, about.bytes, about.size);
	free(*copy);
	*copy = made;
	return 0;
}

/* ---- the closest entry ---- */

static bool is_closer(const struct closest *candidate, const struct closest *closest)
{
	/* an entry with the same key is closer than any other */
	if (closest->place == CLOSEST_NOWHERE || candidate->has_same_key != closest->has_same_key) {
		return closest->place == CLOSEST_NOWHERE || candidate->has_same_key;
	}
	if (candidate->distance != closest->distance) {
		return candidate->distance < closest->distance;
	}
	return candidate->place < closest->place ||
	       (candidate->place == closest->place && candidate->created_ns > closest->created_ns);
}

/*
 * Replaces the closest entry by the candidate if that is closer to the request. Entries with the key of the request can
 * only differ from it in the directories of -I: the fewer of these differ, the closer the entry is.
 */
static int compare_candidate(struct explanation *explanation, struct closest candidate, const struct request *request)
{
	const struct events_record *record = &explanation->record;
	uint64_t began_ns = record->when_ns > record->took_ns ? record->when_ns - record->took_ns : 0;
	struct closest *closest = &explanation->closest;
	struct differences differences;
	int error;

	candidate.has_same_key = record->has_key && memcmp(record->key, candidate.key, ENTRY_KEY_BYTES) == 0;
	/* an entry that was stored during the call or later is not compared, because the call could not find it */
	if (candidate.created_ns >= began_ns ||
	    (!candidate.has_same_key && !differences_related(&explanation->request, request))) {
		return 0;
	}
	if (candidate.has_same_key) {
		differences_find_moved(&explanation->request, request, &differences);
	} else {
		differences_find(&explanation->request, request, &differences);
	}
	candidate.distance = differences.weight;
	differences_free(&differences);
	if (!is_closer(&candidate, closest)) {
		return 0;
	}
	error = copy_about(candidate.about, &closest->copy);
	if (error == 0) {
		candidate.about.bytes = candidate.copy = closest->copy;
		*closest = candidate;
	}
	return error;
}

static int compare_with_all(const struct search *search, const uint8_t *key, uint64_t created_ns, struct span about)
{
	struct closest candidate = {.place = search->place, .created_ns = created_ns, .about = about};
	struct request request;
	int error = 0;

	memcpy(candidate.key, key, sizeof(candidate.key));
	if (request_read(about.bytes, about.size, &request) != 0) {
		return 0;
	}
	for (size_t i = 0; i < search->count && error == 0; i++) {
		if (search->list[i].is_comparable) {
			error = compare_candidate(&search->list[i], candidate, &request);
		}
	}
	request_free(&request);
	return error;
}

static int visit_entry(void *context, const struct entry *entry, int64_t used)
{
	const struct entry_info *info = entry_info(entry);
	struct section about;

	(void)used;
	return entry_section(entry, ABOUT_SECTION, &about)
	           ? compare_with_all(context, info->key, info->created_ns, (struct span){about.bytes, about.size})
	           : 0;
}

static int search_directory(const struct settings *settings, struct search *search)
{
	struct reading reading;
	int error = reading_begin(settings, "comparing", &reading);

	error = error ? error : reading_each(&reading, visit_entry, search);
	reading_end(&reading);
	return error;
}

/* Searches the directories in "dir:dir:dir". A directory that cannot be read counts as empty. */
static int search_lower(const struct settings *settings, struct search *search)
{
	char *list = strdup(settings->lower ? settings->lower : ""), *rest = list;
	struct settings below = *settings;
	int error = list ? 0 : -ENOMEM;

	while ((below.directory = strsep(&rest, ":")) != NULL && error != -ENOMEM && error != -EINTR) {
		error = *below.directory ? search_directory(&below, search) : 0;
	}
	free(list);
	return error == -ENOMEM || error == -EINTR ? error : 0;
}

static int search_record(const struct events *events, const struct search *search)
{
	int error = 0;

	for (size_t i = 0; i < events->count && error == 0; i++) {
		const struct events_record *record = &events->records[i];

		/* a cut record is not compared, because options and headers are missing in it */
		if (record->kind == EVENTS_STORED && record->has_key && !record->is_cut) {
			error = compare_with_all(search, record->key, record->when_ns, span_of_record(record->about));
		}
	}
	return error;
}

static int search_all(const struct settings *settings, const struct events *events, struct search *search)
{
	int error;

	search->place = CLOSEST_CACHED;
	error = search_directory(settings, search);
	search->place = CLOSEST_BELOW;
	error = error ? error : search_lower(settings, search);
	search->place = CLOSEST_GONE;
	return error ? error : search_record(events, search);
}

/* ---- the request ---- */

/* Copies the about section of the newest entry that the call can have stored; entries are visited oldest first. */
static int take_about(void *context, const struct entry *entry)
{
	struct explanation *explanation = context;
	struct events_record *record = &explanation->record;
	struct section about;
	int error;

	/* an entry with a later time was stored by another call */
	if (entry_info(entry)->created_ns > record->when_ns || !entry_section(entry, ABOUT_SECTION, &about)) {
		return 0;
	}
	error = copy_about((struct span){about.bytes, about.size}, &explanation->about);
	if (error == 0) {
		record->about = (struct events_text){explanation->about, about.size};
		record->is_cut = false;
	}
	return error;
}

/*
 * Reads the request of a record. If the record is cut, the request is read from the entry that the call stored, if that
 * entry still exists.
 */
static void read_request(const struct settings *settings, struct explanation *explanation,
                         const struct events_record *given)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	const struct events_record *record = &explanation->record;

	explanation->record = *given;
	if (record->is_cut && record->has_key && record->kind == EVENTS_STORED) {
		(void)inventory_read(&directory, record->key, take_about, explanation);
	}
	if (request_read(record->about.bytes, record->about.size, &explanation->request) == 0) {
		explanation->request.is_cut = record->is_cut;
		explanation->is_comparable = record->kind != EVENTS_BYPASSED;
	}
}

/* ---- the cause ---- */

/* Returns whether both calls asked for the same. A request without a key is compared by what people can know of it. */
static bool is_same_request(const struct events_record *record, const struct events_record *other)
{
	if (record->has_key || other->has_key) {
		return record->has_key && other->has_key && memcmp(record->key, other->key, ENTRY_KEY_BYTES) == 0;
	}
	return record->about.size > 0 && span_equal(span_of_record(record->about), span_of_record(other->about));
}

/* Returns the last miss before the record that had the same request; NULL: there is no such record. */
static const struct events_record *find_earlier(const struct events *events, const struct events_record *record)
{
	const struct events_record *found = NULL;

	for (size_t i = 0; i < events->count; i++) {
		const struct events_record *other = &events->records[i];

		if (other->kind != EVENTS_BYPASSED && other->when_ns < record->when_ns &&
		    (!found || other->when_ns > found->when_ns) && is_same_request(record, other)) {
			found = other;
		}
	}
	return found;
}

static enum cause find_cause(const struct events *events, struct explanation *explanation)
{
	const struct events_record *record = &explanation->record;
	const struct closest *closest = &explanation->closest;

	if (record->kind == EVENTS_BYPASSED) {
		return CAUSE_PASSED;
	}
	if (record->why == EVENTS_WHY_STALE) {
		return CAUSE_STALE;
	}
	if (record->why == EVENTS_WHY_UNFIT) {
		return CAUSE_UNFIT;
	}
	if (closest->has_same_key && closest->place != CLOSEST_GONE) {
		return CAUSE_BROUGHT;
	}
	/* the record has a limited size, so an entry that was removed long ago counts as never stored */
	explanation->earlier = find_earlier(events, record);
	if (explanation->earlier) {
		return explanation->earlier->kind == EVENTS_STORED ? CAUSE_GONE : CAUSE_REFUSED;
	}
	if (!explanation->is_comparable) {
		return CAUSE_UNKNOWN;
	}
	return closest->place != CLOSEST_NOWHERE ? CAUSE_DIFFERENT : CAUSE_FIRST;
}

/*
 * Finds the two directories in a detail "bound to A, and now it is B", which keygen/dependencies.c writes for a
 * path-dependent entry. Returns false if the entry is stale for another reason.
 */
static bool find_moved(struct explanation *explanation)
{
	const struct span middle = span_text(DEPENDENCIES_NOW);
	struct span was;
	const char *end;

	if (!span_behind(span_of_record(explanation->record.detail), span_text(DEPENDENCIES_BOUND), &was)) {
		return false;
	}
	end = memmem(was.bytes, was.size, middle.bytes, middle.size);
	if (!end) {
		return false;
	}
	explanation->moved_was = (struct span){was.bytes, (size_t)(end - (const char *)was.bytes)};
	return span_behind((struct span){end, was.size - explanation->moved_was.size}, middle, &explanation->moved_now);
}

static void explain_record(const struct events *events, struct explanation *explanation)
{
	struct closest *closest = &explanation->closest;

	if (closest->place != CLOSEST_NOWHERE &&
	    request_read(closest->about.bytes, closest->about.size, &explanation->nearest) != 0) {
		/* the section was readable when it was compared, so this error means lack of memory */
		closest->place = CLOSEST_NOWHERE;
	}
	explanation->cause = find_cause(events, explanation);
	if (explanation->cause == CAUSE_DIFFERENT) {
		differences_find(&explanation->request, &explanation->nearest, &explanation->differences);
	} else if (explanation->cause == CAUSE_STALE && !find_moved(explanation) && closest->has_same_key) {
		differences_find_moved(&explanation->request, &explanation->nearest, &explanation->differences);
	}
}

int explanations_make(const struct settings *settings, const struct events *events, const struct events_record *records,
                      size_t count, struct explanation **ret_list)
{
	struct explanation *list = calloc(count, sizeof(*list));
	struct search search = {.list = list, .count = count};
	bool is_any = false;
	int error = 0;

	if (!list) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		read_request(settings, &list[i], &records[i]);
		is_any |= list[i].is_comparable;
	}
	if (is_any) {
		error = search_all(settings, events, &search);
	}
	if (error != 0) {
		explanations_free(list, count);
		return error;
	}
	for (size_t i = 0; i < count; i++) {
		explain_record(events, &list[i]);
	}
	*ret_list = list;
	return 0;
}

void explanations_free(struct explanation *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		request_free(&list[i].request);
		request_free(&list[i].nearest);
		differences_free(&list[i].differences);
		free(list[i].closest.copy);
		free(list[i].about);
	}
	free(list);
}
