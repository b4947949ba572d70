/* SPDX-License-Identifier: MIT */
#include "cli/neighbour.h"

#include "cli/differences.h"
#include "cli/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct search {
	struct sought *list;
	size_t count;
};

static int take(struct neighbour *nearest, const struct entry_info *info, const struct section *about, unsigned weight)
{
	void *copy = malloc(about->size);

	if (!copy) {
		return -ENOMEM;
	}
	memcpy(copy, about->bytes, about->size);
	free(nearest->about);
	*nearest = (struct neighbour){
	    .is_there = true,
	    .created_ns = info->created_ns,
	    .weight = weight,
	    .about = copy,
	    .about_size = about->size,
	};
	memcpy(nearest->key, info->key, sizeof(nearest->key));
	return 0;
}

static int compare(struct sought *sought, const struct entry_info *info, const struct section *about,
                   const struct request *candidate)
{
	struct neighbour *nearest = &sought->nearest;
	bool same = sought->key && memcmp(sought->key, info->key, ENTRY_KEY_BYTES) == 0;
	unsigned weight = 0;

	sought->is_kept |= same;
	if (info->created_ns >= sought->before_ns || (!same && !differences_related(sought->request, candidate))) {
		return 0;
	}
	if (!same) {
		weight = 1 + differences_weight(sought->request, candidate);
	}
	if (nearest->is_there &&
	    (weight > nearest->weight || (weight == nearest->weight && info->created_ns < nearest->created_ns))) {
		return 0;
	}
	return take(nearest, info, about, weight);
}

static int visit(void *context, const struct entry *entry, int64_t used)
{
	const struct search *search = context;
	struct request candidate;
	struct section about;
	int error = 0;

	(void)used;
	if (!entry_section(entry, ABOUT_SECTION, &about) || request_read(about.bytes, about.size, &candidate) != 0) {
		return 0;
	}
	for (size_t i = 0; i < search->count && error == 0; i++) {
		if (search->list[i].request) {
			error = compare(&search->list[i], entry_info(entry), &about, &candidate);
		}
	}
	request_free(&candidate);
	return error;
}

int neighbours_find(const struct settings *settings, struct sought *list, size_t count)
{
	struct search search = {list, count};
	struct reading reading;
	int error = reading_begin(settings, "comparing", &reading);

	if (error == 0) {
		error = reading_each(&reading, visit, &search);
	}
	reading_end(&reading);
	return error;
}

void neighbours_free(struct sought *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].nearest.about);
	}
}
