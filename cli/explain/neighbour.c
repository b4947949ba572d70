/* SPDX-License-Identifier: MIT */
#include "cli/explain/neighbour.h"

#include "cli/console/reading.h"
#include "cli/explain/differences.h"
#include "cli/explain/similarity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct search {
	struct sought *list;
	struct similarity *similarities; /* of each that is sought */
	size_t count;
	enum neighbour_place place;
};

/* One that was kept: which, and since when. */
struct candidate {
	const uint8_t *key;
	uint64_t created_ns;
	struct span about;
	struct request request;
	struct similarity similarity;
};

/* How near it is. */
struct distance {
	unsigned weight, moved;
};

static int take(struct neighbour *nearest, const struct candidate *candidate, enum neighbour_place place,
                struct distance distance)
{
	void *copy = malloc(candidate->about.size + 1);

	if (!copy) {
		return -ENOMEM;
	}
	memcpy(copy, candidate->about.bytes, candidate->about.size);
	free(nearest->about);
	*nearest = (struct neighbour){
	    .place = place,
	    .created_ns = candidate->created_ns,
	    .weight = distance.weight,
	    .moved = distance.moved,
	    .about = copy,
	    .about_size = candidate->about.size,
	};
	memcpy(nearest->key, candidate->key, sizeof(nearest->key));
	return 0;
}

static bool is_nearer(const struct neighbour *nearest, struct distance distance, enum neighbour_place place,
                      uint64_t created_ns)
{
	if (nearest->place == NEIGHBOUR_NOWHERE || distance.weight != nearest->weight) {
		return nearest->place == NEIGHBOUR_NOWHERE || distance.weight < nearest->weight;
	}
	if (distance.moved != nearest->moved) {
		return distance.moved < nearest->moved;
	}
	return place < nearest->place || (place == nearest->place && created_ns > nearest->created_ns);
}

/* Could it be nearer than what was found so far? That spares nearly all comparisons. */
static bool may_be_nearer(const struct sought *sought, const struct similarity *similarity,
                          const struct candidate *candidate, enum neighbour_place place)
{
	const struct distance least = {1 + similarity_least(similarity, &candidate->similarity), 0};

	return similarity_related(similarity, &candidate->similarity) &&
	       is_nearer(&sought->nearest, least, place, candidate->created_ns) &&
	       differences_related(sought->request, &candidate->request);
}

static void count(const struct difference *difference, void *context)
{
	unsigned *number = context;

	(void)difference;
	(*number)++;
}

static int compare(struct sought *sought, const struct similarity *similarity, const struct candidate *candidate,
                   enum neighbour_place place)
{
	bool same = sought->key && memcmp(sought->key, candidate->key, ENTRY_KEY_BYTES) == 0;
	struct distance distance = {0, 0};

	if (candidate->created_ns >= sought->before_ns ||
	    (!same && !may_be_nearer(sought, similarity, candidate, place))) {
		return 0;
	}
	if (same) {
		differences_tell_moved(sought->request, &candidate->request, count, &distance.moved);
	} else {
		distance.weight = 1 + differences_weight(sought->request, &candidate->request);
	}
	return is_nearer(&sought->nearest, distance, place, candidate->created_ns)
	           ? take(&sought->nearest, candidate, place, distance)
	           : 0;
}

static int compare_all(const struct search *search, const uint8_t *key, uint64_t created_ns, struct span about)
{
	struct candidate candidate = {.key = key, .created_ns = created_ns, .about = about};
	int error = 0;

	if (request_read(about.bytes, about.size, &candidate.request) != 0) {
		return 0;
	}
	candidate.similarity = similarity_of(&candidate.request);
	for (size_t i = 0; i < search->count && error == 0; i++) {
		if (search->list[i].request) {
			error = compare(&search->list[i], &search->similarities[i], &candidate, search->place);
		}
	}
	request_free(&candidate.request);
	return error;
}

static int visit(void *context, const struct entry *entry, int64_t used)
{
	const struct entry_info *info = entry_info(entry);
	struct section about;

	(void)used;
	return entry_section(entry, ABOUT_SECTION, &about)
	           ? compare_all(context, info->key, info->created_ns, (struct span){about.bytes, about.size})
	           : 0;
}

/* What was used last comes first: of equal ones the newest is taken, and what is older is then passed over unseen. */
static void turn_round(struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->count / 2; i++) {
		struct inventory_record *one = &inventory->records[i];
		struct inventory_record *other = &inventory->records[inventory->count - 1 - i];
		struct inventory_record swapped = *one;

		*one = *other;
		*other = swapped;
	}
}

static int search_directory(const struct settings *settings, struct search *search)
{
	struct reading reading;
	int error = reading_begin(settings, "comparing", &reading);

	if (error == 0) {
		turn_round(&reading.inventory);
		error = reading_each(&reading, visit, search);
	}
	reading_end(&reading);
	return error;
}

/* dir:dir:dir */
static int search_below(const struct settings *settings, struct search *search)
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

	for (size_t i = journal->count; i-- > 0 && error == 0;) {
		const struct journal_record *record = &journal->records[i];

		if (record->outcome == JOURNAL_STORED && record->has_key && !record->is_cut) {
			error = compare_all(search, record->key, record->when_ns,
			                    (struct span){record->about.bytes, record->about.size});
		}
	}
	return error;
}

static int search_all(const struct settings *settings, const struct journal *journal, struct search *search)
{
	int error = search_directory(settings, search);

	if (error == 0) {
		search->place = NEIGHBOUR_BELOW;
		error = search_below(settings, search);
	}
	if (error == 0) {
		search->place = NEIGHBOUR_GONE;
		error = search_journal(journal, search);
	}
	return error;
}

int neighbours_find(const struct settings *settings, const struct journal *journal, struct sought *list, size_t count)
{
	struct search search = {list, calloc(count + 1, sizeof(*search.similarities)), count, NEIGHBOUR_KEPT};
	int error;

	if (!search.similarities) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		if (list[i].request) {
			search.similarities[i] = similarity_of(list[i].request);
		}
	}
	error = search_all(settings, journal, &search);
	free(search.similarities);
	return error;
}

const char *neighbour_name(enum neighbour_place place)
{
	static const char *const names[] = {
#define NEIGHBOUR_TEXT(name, text) [NEIGHBOUR_##name] = (text),
	    NEIGHBOURS(NEIGHBOUR_TEXT)
#undef NEIGHBOUR_TEXT
	};

	return names[place];
}

void neighbours_free(struct sought *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].nearest.about);
	}
}
