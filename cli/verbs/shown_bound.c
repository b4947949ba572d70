/* SPDX-License-Identifier: MIT */
/* shown, second part: what a result is bound to, and why, as far as it says so itself */
#include "cli/verbs/shown.h"

#include "cli/explain/request.h"
#include "keygen/needles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct wanted {
	const char *name;
	char *found;
	bool there;
};

static int find_option(const struct about_fact *fact, void *context)
{
	struct wanted *wanted = context;

	if (fact->kind == ABOUT_OPTION && request_binds((struct span){fact->text, fact->size})) {
		wanted->found = strndup(fact->text, fact->size);
		return 1;
	}
	return 0;
}

static int find_part(const struct about_fact *fact, void *context)
{
	struct wanted *wanted = context;

	wanted->there |= fact->kind == ABOUT_PART && fact->size == strlen(wanted->name) &&
	                 memcmp(fact->text, wanted->name, fact->size) == 0;
	return 0;
}

static bool has_part(const struct listed_result *result, const char *name)
{
	struct wanted wanted = {.name = name};

	return result->about && about_read(result->about, result->about_size, find_part, &wanted) == 0 && wanted.there;
}

struct naming {
	uint32_t tag;
	char *name;
};

static int name_section(const struct about_fact *fact, void *context)
{
	struct naming *naming = context;

	if (fact->kind != ABOUT_ARTIFACT || fact->tag != naming->tag) {
		return 0;
	}
	naming->name = strndup(fact->text, fact->size);
	return 1;
}

/* The artifact in which the text is found, by the search that binds; NULL: in none. */
static char *find_artifact(const struct shown *shown, const char *text)
{
	const struct needle needle = {text, strlen(text)};
	struct naming naming = {.name = NULL};
	struct section section;

	for (size_t i = 0; entry_section_at(shown->entry, i, &section); i++) {
		struct needles *needles;

		if (section.tag == ABOUT_SECTION || needles_new(&needle, 1, &needles) != 0) {
			continue;
		}
		needles_search(needles, section.bytes, section.size);
		naming.tag = needles_found(needles, 0) ? section.tag : ABOUT_SECTION;
		needles_free(needles);
		if (naming.tag == ABOUT_SECTION) {
			continue;
		}
		if (about_read(shown->result.about, shown->result.about_size, name_section, &naming) == 0) {
			naming.name = strdup("lowered names");
		}
		return naming.name;
	}
	return NULL;
}

/* The option that puts the working directory into a request of NVRTC's; NULL: none that is named here. */
static char *binding_option(const struct listed_result *result)
{
	struct wanted wanted = {.found = NULL};
	struct about_fact compiler;

	if (results_fact(result, ABOUT_COMPILER, &compiler) && compiler.size == strlen("nvrtc") &&
	    memcmp(compiler.text, "nvrtc", compiler.size) == 0) {
		(void)about_read(result->about, result->about_size, find_option, &wanted);
	}
	return wanted.found;
}

static int add(struct shown *shown, const char *directory, size_t size)
{
	struct shown_bound bound = {.directory = strndup(directory, size)};
	struct shown_bound *list = realloc(shown->bound, (shown->bound_count + 1) * sizeof(*list));

	shown->bound = list ? list : shown->bound;
	if (!list || !bound.directory) {
		free(bound.directory);
		return -ENOMEM;
	}
	if (shown->bound_count == 0 && has_part(&shown->result, "working directory")) {
		bound.reason = SHOWN_KEY;
		bound.text = binding_option(&shown->result);
	} else {
		bound.text = find_artifact(shown, bound.directory);
		bound.reason = bound.text ? SHOWN_FOUND : SHOWN_TEXT;
	}
	shown->bound[shown->bound_count++] = bound;
	return 0;
}

static int add_fact(const struct about_fact *fact, void *context)
{
	return fact->kind == ABOUT_BOUND ? add(context, fact->text, fact->size) : 0;
}

int shown_find_bound(struct shown *shown)
{
	const struct listed_result *result = &shown->result;

	if (result->about && about_read(result->about, result->about_size, add_fact, shown) == -ENOMEM) {
		return -ENOMEM;
	}
	/* the key has a directory, and its name was not kept */
	return shown->bound_count == 0 && has_part(result, "working directory") ? add(shown, "", 0) : 0;
}

/*
 * The working directory comes first where there is one, and each other is a root that dependencies spell out. So there is one
 * where the key has it, or where there is one more than such roots.
 */
const char *shown_bound_directory(const struct shown *shown)
{
	const char *first = shown->bound_count > 0 ? shown->bound[0].directory : "";

	return *first && (shown->bound[0].reason == SHOWN_KEY || shown->bound_count > shown->told.bound_roots) ? first
	                                                                                                       : NULL;
}
