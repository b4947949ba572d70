/* SPDX-License-Identifier: MIT */
/*
 * All requests are compared with an entry while it is in memory, so that every entry is read once, even if many calls
 * are explained. Each explanation has a copy of the about section of its closest entry so far, because an entry is
 * released after the visit.
 * The cause is determined last. find_cause() makes several tests in order and stops at the first that applies: first
 * tests of the record, then tests of what the cache and the journal contain.
 */
#include "cli/explain/explanation.h"

#include "cli/console/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct search {
	struct explanation *list;
	size_t count;
	enum closest_place place;
};

/* One entry that may be the closest. */
struct candidate {
	const uint8_t *key;
	uint64_t created_ns;
	struct span about;
	struct request request;
};

/* ---- the closest entry ---- */

static bool is_closer(const struct closest *closest, unsigned distance, bool has_same_key, enum closest_place place,
                      uint64_t created_ns)
{
	/* an entry with the same key is closer than any other */
	if (closest->place == CLOSEST_NOWHERE || has_same_key != closest->has_same_key) {
		return closest->place == CLOSEST_NOWHERE || has_same_key;
	}
	if (distance != closest->distance) {
		return distance < closest->distance;
	}
	return place < closest->place || (place == closest->place && created_ns > closest->created_ns);
}

static int replace_closest(struct closest *closest, const struct candidate *candidate, unsigned distance,
                           bool has_same_key, enum closest_place place)
{
	void *copy = malloc(candidate->about.size + 1);

	if (!copy) {
		return -ENOMEM;
	}
	memcpy(copy, candidate->about.bytes, candidate->about.size);
	free(closest->about);
	*closest = (struct closest){
	    .place = place,
	    .created_ns = candidate->created_ns,
	    .distance = distance,
	    .has_same_key = has_same_key,
	    .about = copy,
	    .about_size = candidate->about.size,
	};
	memcpy(closest->key, candidate->key, sizeof(closest->key));
	return 0;
}

/*
 * Replaces the closest entry by the candidate if that is closer to the request. Entries with the key of the request can
 * only differ from it in the directories of -I: the fewer of these differ, the closer the entry is.
 */
static int compare_candidate(struct explanation *explanation, const struct candidate *candidate,
                             enum closest_place place)
{
	const struct journal_record *record = &explanation->record;
	uint64_t began_ns = record->when_ns > record->took_ns ? record->when_ns - record->took_ns : 0;
	bool has_same_key = record->has_key && memcmp(record->key, candidate->key, ENTRY_KEY_BYTES) == 0;
	struct differences differences;
	int error = 0;

	/* an entry that was stored during the call or later is not compared, because the call could not find it */
	if (candidate->created_ns >= began_ns ||
	    (!has_same_key && !differences_related(&explanation->request, &candidate->request))) {
		return 0;
	}
	if (has_same_key) {
		differences_find_moved(&explanation->request, &candidate->request, &differences);
	} else {
		differences_find(&explanation->request, &candidate->request, &differences);
	}
	if (is_closer(&explanation->closest, differences.weight, has_same_key, place, candidate->created_ns)) {
		error = replace_closest(&explanation->closest, candidate, differences.weight, has_same_key, place);
	}
	differences_free(&differences);
	return error;
}

static int compare_with_all(const struct search *search, const uint8_t *key, uint64_t created_ns, struct span about)
{
	struct candidate candidate = {.key = key, .created_ns = created_ns, .about = about};
	int error = 0;

	if (request_read(about.bytes, about.size, &candidate.request) != 0) {
		return 0;
	}
	for (size_t i = 0; i < search->count && error == 0; i++) {
		if (search->list[i].is_comparable) {
			error = compare_candidate(&search->list[i], &candidate, search->place);
		}
	}
	request_free(&candidate.request);
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
	const char *lower = settings->lower ? settings->lower : "";
	int error = 0;

	while (*lower != '\0' && error != -ENOMEM && error != -EINTR) {
		size_t size = strcspn(lower, ":");
		struct settings below = *settings;

		below.directory = strndup(lower, size);
		error = below.directory ? 0 : -ENOMEM;
		if (size > 0 && below.directory) {
			error = search_directory(&below, search);
		}
		free(below.directory);
		lower += size + (lower[size] == ':');
	}
	return error == -ENOMEM || error == -EINTR ? error : 0;
}

static int search_journal(const struct journal *journal, const struct search *search)
{
	int error = 0;

	for (size_t i = 0; i < journal->count && error == 0; i++) {
		const struct journal_record *record = &journal->records[i];

		/* a cut record is not compared, because options and headers are missing in it */
		if (record->outcome == JOURNAL_STORED && record->has_key && !record->is_cut) {
			error = compare_with_all(search, record->key, record->when_ns,
			                         (struct span){record->about.bytes, record->about.size});
		}
	}
	return error;
}

static int search_all(const struct settings *settings, const struct journal *journal, struct search *search)
{
	int error;

	search->place = CLOSEST_CACHED;
	error = search_directory(settings, search);
	if (error == 0) {
		search->place = CLOSEST_BELOW;
		error = search_lower(settings, search);
	}
	if (error == 0) {
		search->place = CLOSEST_GONE;
		error = search_journal(journal, search);
	}
	return error;
}

/* ---- the request ---- */

/* Copies the about section of the newest entry that the call can have stored; entries are visited oldest first. */
static int take_about(void *context, const struct entry *entry)
{
	struct explanation *explanation = context;
	struct journal_record *record = &explanation->record;
	struct section about;
	void *copy;

	/* an entry with a later time was stored by another call */
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

/*
 * Reads the request of a record. If the record is cut, the request is read from the entry that the call stored, if that
 * entry still exists.
 */
static void read_request(const struct settings *settings, struct explanation *explanation,
                         const struct journal_record *given)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	const struct journal_record *record = &explanation->record;

	explanation->record = *given;
	if (record->is_cut && record->has_key && record->outcome == JOURNAL_STORED) {
		(void)inventory_read(&directory, record->key, take_about, explanation);
	}
	if (request_read(record->about.bytes, record->about.size, &explanation->request) == 0) {
		explanation->request.is_cut = record->is_cut;
		explanation->is_comparable = record->outcome != JOURNAL_PASSED;
	}
}

/* ---- the cause ---- */

/* Returns the last time before the record at which the same key was stored; 0: the journal has no such record. */
static uint64_t find_stored(const struct journal *journal, const struct journal_record *record)
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

static enum cause find_cause(const struct journal *journal, struct explanation *explanation)
{
	const struct journal_record *record = &explanation->record;
	const struct closest *closest = &explanation->closest;

	if (record->outcome == JOURNAL_PASSED) {
		return CAUSE_PASSED;
	}
	if (record->is_stale) {
		return CAUSE_STALE;
	}
	if (record->is_unfit) {
		return CAUSE_UNFIT;
	}
	if (closest->has_same_key && closest->place != CLOSEST_GONE) {
		return CAUSE_BROUGHT;
	}
	/* the journal has a limited size, so an entry that was removed long ago counts as never stored */
	explanation->stored_ns = record->has_key ? find_stored(journal, record) : 0;
	if (explanation->stored_ns != 0) {
		return CAUSE_GONE;
	}
	if (!explanation->is_comparable) {
		return CAUSE_UNKNOWN;
	}
	return closest->place != CLOSEST_NOWHERE ? CAUSE_DIFFERENT : CAUSE_FIRST;
}

static void conclude(const struct journal *journal, struct explanation *explanation)
{
	struct closest *closest = &explanation->closest;

	if (closest->place != CLOSEST_NOWHERE &&
	    request_read(closest->about, closest->about_size, &explanation->nearest) != 0) {
		/* the section was readable when it was compared, so this error means lack of memory */
		closest->place = CLOSEST_NOWHERE;
	}
	explanation->cause = find_cause(journal, explanation);
	if (explanation->cause == CAUSE_DIFFERENT) {
		differences_find(&explanation->request, &explanation->nearest, &explanation->differences);
	} else if (explanation->cause == CAUSE_STALE && closest->has_same_key) {
		differences_find_moved(&explanation->request, &explanation->nearest, &explanation->differences);
	}
}

int explanations_make(const struct settings *settings, const struct journal *journal,
                      const struct journal_record *records, size_t count, struct explanation **ret_list)
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
		error = search_all(settings, journal, &search);
	}
	if (error != 0) {
		explanations_free(list, count);
		return error;
	}
	for (size_t i = 0; i < count; i++) {
		conclude(journal, &list[i]);
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
		free(list[i].closest.about);
		free(list[i].about);
	}
	free(list);
}
