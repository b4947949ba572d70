/* SPDX-License-Identifier: MIT */
#include "keygen/conditions_tell.h"

#include "keygen/conditions_read.h"
#include "keygen/conditions_state.h"

#include <errno.h>
#include <stdlib.h>

struct telling {
	struct reader reader;
	struct states states;
	const struct condition_places *places;
	void (*each)(const struct condition *condition, void *context);
	void *context;
	struct conditions_told told;
	struct spelled {
		const char *text; /* NULL: it is free */
		size_t size;
	} *spelled; /* the roots */
};

const char *condition_state_text(enum condition_state state)
{
	static const char *const texts[] = {
	    [CONDITION_UNCHANGED] = "unchanged",     [CONDITION_CHANGED] = "changed",
	    [CONDITION_TOUCHED] = "touched",         [CONDITION_GONE] = "gone",
	    [CONDITION_APPEARED] = "appeared",       [CONDITION_UNREADABLE] = "unreadable",
	    [CONDITION_OTHER_KIND] = "another kind", [CONDITION_OTHER_FILE] = "another file",
	    [CONDITION_DOUBTFUL] = "cannot be told", [CONDITION_NOT_ASKED] = "not asked",
	    [CONDITION_DAMAGED] = "damaged",
	};

	return texts[state];
}

static void tell(const struct telling *telling, const struct condition *condition)
{
	if (telling->each) {
		telling->each(condition, telling->context);
	}
}

/* False: it is not known where the group's paths start. */
static bool find_base(const struct telling *telling, struct place_group *group)
{
	const struct condition_places *places = telling->places;

	if (group->base == BASE_LITERAL) {
		return places != NULL;
	}
	if (group->base == BASE_CWD) {
		return places && places->here;
	}
	if (telling->spelled[group->base].text) {
		group->base_text = telling->spelled[group->base].text;
		group->base_size = telling->spelled[group->base].size;
		return places != NULL;
	}
	if (places && group->base < places->root_count && places->root[group->base].text) {
		group->base_text = places->root[group->base].text;
		group->base_size = places->root[group->base].size;
		return true;
	}
	return false;
}

static int tell_item(struct telling *telling, const struct place_group *group, bool asked)
{
	struct condition condition = {.root = CONDITION_NO_ROOT, .relative = group->base == BASE_CWD};
	struct checked_item item;
	const char *name;
	size_t size;

	if (reader_item(&telling->reader, &item, &name, &size) != READ_SOUND) {
		return -EBADMSG;
	}
	if (place_name(&telling->states.place, name, size) != 0) {
		return -ENAMETOOLONG;
	}
	condition.kind = item.kind == ITEM_CONTENT    ? CONDITION_CONTENT
	                 : item.kind == ITEM_IDENTITY ? CONDITION_PLACE
	                                              : CONDITION_ABSENT;
	condition.state = asked ? states_ask(&telling->states, &item) : CONDITION_NOT_ASKED;
	if (condition.state == CONDITION_DAMAGED) {
		return -EBADMSG;
	}
	condition.path = telling->states.place.path;
	if (!asked && group->base != BASE_CWD && group->base != BASE_LITERAL && group->base_size == 0) {
		condition.root = group->base;
	}
	if (item.kind != ITEM_ABSENT) {
		condition.size = item.identity.size;
		condition.directory = S_ISDIR(item.identity.type);
	}
	tell(telling, &condition);
	return 0;
}

static int tell_group(struct telling *telling)
{
	struct place_group group;
	uint32_t items;
	bool asked;
	int error;

	if (reader_group(&telling->reader, &group, &items) != READ_SOUND) {
		return -EBADMSG;
	}
	asked = find_base(telling, &group);
	if (!asked) {
		group.hints = 0; /* nothing is opened */
	}
	error = place_enter(&telling->states.place, &group);
	content_enter(&telling->states.content);
	for (uint32_t i = 0; error == 0 && i < items; i++) {
		error = tell_item(telling, &group, asked);
	}
	place_leave(&telling->states.place);
	return error;
}

static int tell_roots(struct telling *telling)
{
	const struct cursor *cursor = &telling->reader.cursor;
	const uint32_t count = telling->reader.roots;

	if (count > (size_t)(cursor->end - cursor->at) / sizeof(uint32_t)) {
		return -EBADMSG;
	}
	telling->spelled = calloc((size_t)count + 1, sizeof(*telling->spelled));
	if (!telling->spelled) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct spelled *root = &telling->spelled[i];

		if (reader_root(&telling->reader, &root->text, &root->size) != READ_SOUND) {
			return -EBADMSG;
		}
		telling->told.bound_roots += root->text != NULL;
	}
	telling->told.roots = count;
	return 0;
}

static int tell_all(struct telling *telling, const void *conditions, size_t size)
{
	struct fixed_stamps stamps;
	enum read head = reader_head(&telling->reader, conditions, size, &stamps);
	int error;

	if (head != READ_SOUND) {
		return head == READ_DAMAGED ? -EBADMSG : -EPROTONOSUPPORT;
	}
	telling->told.exact = (telling->reader.flags & CONDITIONS_EXACT) != 0;
	content_taken(&telling->states.content, &stamps);
	if (telling->reader.flags & CONDITIONS_ARITHMETIC) {
		if (!reader_arithmetic(&telling->reader)) {
			return -EBADMSG;
		}
		tell(telling,
		     &(struct condition){CONDITION_ARITHMETIC, CONDITION_NOT_ASKED, .root = CONDITION_NO_ROOT});
	}
	error = tell_roots(telling);
	if (error == 0) {
		error = states_expect(&telling->states, telling->told.exact, telling->reader.classes);
	}
	for (uint32_t i = 0; error == 0 && i < telling->reader.groups; i++) {
		error = tell_group(telling);
	}
	return error ? error : reader_ends(&telling->reader) ? 0 : -EBADMSG;
}

int conditions_tell(const void *conditions, size_t size, const struct condition_places *places,
                    void (*each)(const struct condition *condition, void *context), void *context,
                    struct conditions_told *ret_told)
{
	struct telling telling = {.places = places, .each = each, .context = context};
	int error = 0;

	if (size > 0) {
		states_begin(&telling.states, conditions, size, CONTENT_AS_IT_IS);
		error = tell_all(&telling, conditions, size);
		telling.told.joined = error == 0 && !states_distinct(&telling.states);
		states_end(&telling.states);
		free(telling.spelled);
	}
	if (error == 0) {
		*ret_told = telling.told;
	}
	return error;
}

bool conditions_bound_root(const void *conditions, size_t size, uint32_t root, const char **ret_text, size_t *ret_size)
{
	struct fixed_stamps stamps;
	const char *text = NULL;
	struct reader reader;
	size_t text_size = 0;

	if (reader_head(&reader, conditions, size, &stamps) != READ_SOUND || root >= reader.roots ||
	    ((reader.flags & CONDITIONS_ARITHMETIC) && !reader_arithmetic(&reader))) {
		return false;
	}
	for (uint32_t i = 0; i <= root; i++) {
		if (reader_root(&reader, &text, &text_size) != READ_SOUND) {
			return false;
		}
	}
	if (!text) {
		return false;
	}
	*ret_text = text;
	*ret_size = text_size;
	return true;
}
