/* SPDX-License-Identifier: MIT */
/* conditions_tell(): a walk that reports each path, for people. */
#include "keygen/conditions_tell.h"

#include "keygen/conditions_walk.h"

#include <errno.h>
#include <stdlib.h>

struct telling {
	const struct condition_places *places;
	void (*each)(const struct condition *condition, void *context);
	void *context;
	struct root *root; /* texts of the conditions, else of the caller; not owned */
	struct conditions_told told;
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

static void tell_condition(const struct telling *telling, const struct condition *condition)
{
	if (telling->each) {
		telling->each(condition, telling->context);
	}
}

/* As of the machine that this runs on, where anything is looked at. */
static void tell_machine(const struct walk *walk)
{
	char words[MACHINE_WORDS_MAX];

	for (uint32_t i = 0; i < walk->reader.answer_count; i++) {
		const struct machine_answer *then = &walk->reader.answers[i];
		struct condition condition = {CONDITION_MACHINE, CONDITION_NOT_ASKED, .root = CONDITION_NO_ROOT};
		int64_t now;

		condition.question = machine_words(then->question, words);
		condition.answer = then->answer;
		if (walk->look && machine_ask(then->question, &now)) {
			condition.state = now == then->answer ? CONDITION_UNCHANGED : CONDITION_CHANGED;
		}
		tell_condition(walk->context, &condition);
	}
}

static int tell_begin(struct walk *walk)
{
	const struct cursor *cursor = &walk->reader.cursor;
	const uint32_t count = walk->reader.roots;
	struct telling *telling = walk->context;

	telling->told.exact = walk->exact;
	telling->told.roots = count;
	if (walk->reader.arithmetic) {
		tell_condition(
		    telling, &(struct condition){CONDITION_ARITHMETIC, CONDITION_NOT_ASKED, .root = CONDITION_NO_ROOT});
	}
	tell_machine(walk);
	if (count > (size_t)(cursor->end - cursor->at) / sizeof(uint32_t)) {
		return -EBADMSG;
	}
	telling->root = calloc((size_t)count + 1, sizeof(*telling->root));
	walk->root = telling->root;
	return telling->root ? 0 : -ENOMEM;
}

static int tell_root(struct walk *walk, uint32_t number, const char *text, size_t size)
{
	struct telling *telling = walk->context;
	const struct condition_places *places = telling->places;

	if (text) {
		telling->root[number] = (struct root){.text = (char *)text, .size = size};
		telling->told.bound_roots++;
	} else if (places && number < places->root_count) {
		telling->root[number] = places->root[number];
	}
	return 0;
}

static int tell_item(struct walk *walk, const struct place_group *group, const struct checked_item *item,
                     enum condition_state state)
{
	struct condition condition = {
	    .state = state,
	    .path = walk->place.path,
	    .root = CONDITION_NO_ROOT,
	    .relative = group->base == BASE_CWD,
	};

	condition.kind = item->kind == ITEM_CONTENT    ? CONDITION_CONTENT
	                 : item->kind == ITEM_IDENTITY ? CONDITION_PLACE
	                                               : CONDITION_ABSENT;
	if (state == CONDITION_NOT_ASKED && group->base != BASE_CWD && group->base != BASE_LITERAL &&
	    group->base_size == 0) {
		condition.root = group->base;
	}
	if (item->kind != ITEM_ABSENT) {
		condition.size = item->identity.size;
		condition.directory = S_ISDIR(item->identity.type);
	}
	tell_condition(walk->context, &condition);
	return 0;
}

int conditions_tell(const void *conditions, size_t size, const struct condition_places *places,
                    void (*each)(const struct condition *condition, void *context), void *context,
                    struct conditions_told *ret_told)
{
	static const struct visitor visitor = {tell_begin, tell_root, tell_item};
	struct telling telling = {.places = places, .each = each, .context = context};
	struct walk walk = {.visitor = &visitor, .context = &telling, .every = true};
	int error = 0;

	if (size > 0) {
		walk.look = places != NULL;
		walk.here = places && places->here;
		error = walk_conditions(&walk, conditions, size, CONTENT_AS_IT_IS);
		telling.told.joined = error == 0 && !walk_is_distinct(&walk);
		walk_end(&walk);
		free(telling.root);
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

	if (reader_head(&reader, conditions, size, &stamps) != READ_SOUND || root >= reader.roots) {
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
