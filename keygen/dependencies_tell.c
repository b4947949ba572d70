/* SPDX-License-Identifier: MIT */
/* dependencies_tell(): a walk whose visitor reports each path. */
#include "keygen/dependencies_tell.h"

#include "keygen/dependencies_walk.h"

#include <errno.h>
#include <stdlib.h>

struct telling {
	const struct dependency_places *places;
	void (*each)(const struct dependency *dependency, void *context);
	void *context;
	struct root *root; /* texts from the dependencies, otherwise from the caller; not owned */
	struct dependencies_told told;
};

const char *dependency_state_text(enum dependency_state state)
{
	static const char *const texts[] = {
	    [DEPENDENCY_UNCHANGED] = "unchanged",     [DEPENDENCY_CHANGED] = "changed",
	    [DEPENDENCY_TOUCHED] = "touched",         [DEPENDENCY_GONE] = "gone",
	    [DEPENDENCY_APPEARED] = "appeared",       [DEPENDENCY_UNREADABLE] = "unreadable",
	    [DEPENDENCY_OTHER_KIND] = "another kind", [DEPENDENCY_OTHER_FILE] = "another file",
	    [DEPENDENCY_DOUBTFUL] = "unknown",        [DEPENDENCY_NOT_ASKED] = "not checked",
	    [DEPENDENCY_DAMAGED] = "damaged",
	};

	return texts[state];
}

static void tell_dependency(const struct telling *telling, const struct dependency *dependency)
{
	if (telling->each) {
		telling->each(dependency, telling->context);
	}
}

/* Only a process with the compiler can compare such a library. */
static void tell_library(const struct telling *telling, enum dependency_kind kind)
{
	tell_dependency(telling, &(struct dependency){kind, DEPENDENCY_NOT_ASKED, .root = DEPENDENCY_NO_ROOT});
}

/* Reports the answers of the machine, and compares them with this machine's if the walk may look at anything. */
static void tell_machine(const struct walk *walk)
{
	char words[MACHINE_WORDS_MAX];

	for (uint32_t i = 0; i < walk->reader.answer_count; i++) {
		const struct machine_answer *then = &walk->reader.answers[i];
		struct dependency dependency = {DEPENDENCY_MACHINE, DEPENDENCY_NOT_ASKED, .root = DEPENDENCY_NO_ROOT};
		int64_t now;

		dependency.question = machine_words(then->question, words);
		dependency.answer = then->answer;
		if (walk->look && machine_ask(then->question, &now)) {
			dependency.state = now == then->answer ? DEPENDENCY_UNCHANGED : DEPENDENCY_CHANGED;
		}
		tell_dependency(walk->context, &dependency);
	}
}

static int tell_begin(struct walk *walk)
{
	const struct cursor *cursor = &walk->reader.cursor;
	const uint32_t count = walk->reader.roots;
	struct telling *telling = walk->context;

	telling->told.exact = walk->exact;
	telling->told.roots = count;
	if (walk->reader.companion) {
		tell_library(telling, DEPENDENCY_COMPANION);
	}
	if (walk->reader.arithmetic) {
		tell_library(telling, DEPENDENCY_ARITHMETIC);
	}
	tell_machine(walk);
	/* A damaged count must not cause an allocation of gigabytes. */
	if (count > (size_t)(cursor->end - cursor->at) / sizeof(uint32_t)) {
		return -EBADMSG;
	}
	telling->root = calloc((size_t)count + 1, sizeof(*telling->root));
	walk->root = telling->root;
	return telling->root ? 0 : -ENOMEM;
}

/* A root that the result is bound to has its own text; for the others, the caller may say where they are now. */
static int tell_root(struct walk *walk, uint32_t number, const char *text, size_t size)
{
	struct telling *telling = walk->context;
	const struct dependency_places *places = telling->places;

	if (text) {
		telling->root[number] = (struct root){.text = (char *)text, .size = size};
		telling->told.bound_roots++;
	} else if (places && number < places->root_count) {
		telling->root[number] = places->root[number];
	}
	return 0;
}

/* A path whose root is not known is reported relative to it, with the root's number. */
static int tell_item(struct walk *walk, const struct place_group *group, const struct checked_item *item,
                     enum dependency_state state)
{
	struct dependency dependency = {
	    .state = state,
	    .path = walk->place.path,
	    .root = DEPENDENCY_NO_ROOT,
	    .relative = group->base == BASE_CWD,
	};

	dependency.kind = item->kind == ITEM_CONTENT    ? DEPENDENCY_CONTENT
	                  : item->kind == ITEM_IDENTITY ? DEPENDENCY_PLACE
	                                                : DEPENDENCY_ABSENT;
	if (state == DEPENDENCY_NOT_ASKED && group->base != BASE_CWD && group->base != BASE_LITERAL &&
	    group->base_size == 0) {
		dependency.root = group->base;
	}
	if (item->kind != ITEM_ABSENT) {
		dependency.size = item->identity.size;
		dependency.directory = S_ISDIR(item->identity.type);
	}
	tell_dependency(walk->context, &dependency);
	return 0;
}

int dependencies_tell(const void *dependencies, size_t size, const struct dependency_places *places,
                      void (*each)(const struct dependency *dependency, void *context), void *context,
                      struct dependencies_told *ret_told)
{
	static const struct visitor visitor = {tell_begin, tell_root, tell_item};
	struct telling telling = {.places = places, .each = each, .context = context};
	struct dependencies_budget unlimited = {UINT64_MAX, DEPENDENCIES_BYTES_MAX, INT64_MAX};
	struct walk walk = {.visitor = &visitor, .context = &telling, .every = true};
	int error = 0;

	if (size > 0) {
		walk.budget = &unlimited;
		walk.look = places != NULL;
		walk.here = places && places->here;
		error = walk_dependencies(&walk, dependencies, size);
		telling.told.joined = error == 0 && walk.joined;
		walk_end(&walk);
		free(telling.root);
	}
	if (error == 0) {
		*ret_told = telling.told;
	}
	return error;
}
