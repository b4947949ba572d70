/* SPDX-License-Identifier: MIT */
#include "cli/verbs/shown.h"

#include "cli/console/console.h"
#include "cli/console/key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct taking {
	struct shown_list *list;
	int64_t used_ns;
};

static void free_shown(struct shown *shown)
{
	for (size_t i = 0; i < shown->dependency_count; i++) {
		free(shown->dependencies[i].path);
	}
	for (size_t i = 0; i < shown->bound_count; i++) {
		free(shown->bound[i].directory);
		free(shown->bound[i].text);
	}
	free(shown->dependencies);
	free(shown->bound);
	free(shown->from_directory);
	results_free_one(&shown->result);
	entry_unref(shown->entry);
}

void shown_free(struct shown_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free_shown(&list->list[i]);
	}
	free(list->list);
	*list = (struct shown_list){.list = NULL};
}

static int take(void *context, const struct entry *entry)
{
	const struct taking *taking = context;
	struct shown_list *list = taking->list;
	struct shown *shown, *grown = realloc(list->list, (list->count + 1) * sizeof(*grown));
	const void *dependencies;
	size_t size;

	if (!grown) {
		return -ENOMEM;
	}
	list->list = grown;
	shown = &grown[list->count];
	*shown = (struct shown){.from = SHOWN_NEVER};
	dependencies = entry_dependencies(entry, &size);
	/* a copy, dependencies and all: the visitor's own goes */
	if (entry_amend(entry, dependencies, size, &shown->entry) != 0) {
		return -ENOMEM;
	}
	if (results_of_entry(entry, taking->used_ns, &shown->result) != 0) {
		entry_unref(shown->entry);
		return -ENOMEM;
	}
	list->count++;
	return 0;
}

struct noting {
	struct shown *shown;
	bool failed, relative;
};

static void note(const struct dependency *dependency, void *context)
{
	struct noting *noting = context;
	struct shown *shown = noting->shown;
	struct shown_dependency *one, *grown = shown->dependencies;
	const char *text = dependency->kind == DEPENDENCY_MACHINE ? dependency->question : dependency->path;
	const size_t count = shown->dependency_count;

	if ((count & (count - 1)) == 0) { /* room for 1, 2, 4, ... is full */
		grown = realloc(grown, (count ? 2 * count : 1) * sizeof(*grown));
	}
	if (!grown || noting->failed) {
		noting->failed = true;
		return;
	}
	shown->dependencies = grown;
	one = &grown[shown->dependency_count++];
	*one = (struct shown_dependency){
	    .kind = dependency->kind,
	    .state = dependency->state,
	    .path = text ? strdup(text) : NULL,
	    .root = dependency->root,
	    .relative = dependency->relative,
	    .directory = dependency->directory,
	    .size = dependency->size,
	    .answer = dependency->answer,
	};
	noting->failed = text && !one->path;
}

static void see_relative(const struct dependency *dependency, void *context)
{
	bool *relative = context;

	*relative |= dependency->relative;
}

struct gathering {
	struct root *root;
	size_t count;
};

static int gather_root(const struct about_fact *fact, void *context)
{
	struct gathering *gathering = context;
	struct root *grown;

	if (fact->kind != ABOUT_ROOT) {
		return 0;
	}
	grown = realloc(gathering->root, (gathering->count + 1) * sizeof(*grown));
	if (!grown) {
		return -ENOMEM;
	}
	gathering->root = grown;
	grown[gathering->count].text = strndup(fact->text, fact->size);
	if (!grown[gathering->count].text) {
		return -ENOMEM;
	}
	grown[gathering->count++].size = fact->size;
	return 0;
}

static void free_gathered(struct gathering *gathering)
{
	while (gathering->count > 0) {
		free(gathering->root[--gathering->count].text);
	}
	free(gathering->root);
}

/* Goes where relative paths are looked up from. */
static void go(struct shown *shown, const char *from)
{
	const char *bound = shown_bound_directory(shown);

	if (from || !bound) {
		shown->from = from ? SHOWN_NAMED : SHOWN_HERE;
		shown->from_directory = getcwd(NULL, 0);
	} else if (chdir(bound) == 0) {
		shown->from = SHOWN_BOUND;
		shown->from_directory = strdup(bound);
	}
}

static int ask(struct shown *shown, const char *from)
{
	struct noting noting = {.shown = shown};
	struct gathering gathering = {.root = NULL};
	struct dependency_places places;
	bool relative = false;
	size_t size;
	const void *dependencies = entry_dependencies(shown->entry, &size);

	shown->error = dependencies_tell(dependencies, size, NULL, see_relative, &relative, &shown->told);
	if (shown->result.about) {
		(void)about_read(shown->result.about, shown->result.about_size, gather_root, &gathering);
	}
	if (relative) {
		go(shown, from);
	}
	/* another number of roots is not that of the dependencies: none is known then */
	places = (struct dependency_places){
	    .root = gathering.root,
	    .root_count = gathering.count == shown->told.roots ? gathering.count : 0,
	    .here = shown->from != SHOWN_NEVER,
	};
	shown->error = dependencies_tell(dependencies, size, &places, note, &noting, &shown->told);
	free_gathered(&gathering);
	return noting.failed ? -ENOMEM : 0;
}

static void turn_round(struct shown_list *list)
{
	for (size_t i = 0, j = list->count; i + 1 < j; i++) {
		struct shown other = list->list[--j];

		list->list[j] = list->list[i];
		list->list[i] = other;
	}
}

static bool look(struct shown_list *list, const char *from, int home)
{
	int error = 0;

	for (size_t i = 0; i < list->count && error == 0; i++) {
		error = shown_find_bound(&list->list[i]);
		if (error == 0 && from && chdir(from) < 0) {
			console_error("%s: %s", from, strerror(errno));
			return false;
		}
		error = error ? error : ask(&list->list[i], from);
		if (fchdir(home) < 0 && error == 0) {
			error = -errno;
		}
	}
	if (error != 0) {
		console_error("%s", strerror(-error));
	}
	return error == 0;
}

static const char *reason(int error)
{
	switch (error) {
	case -EBADMSG:
		return "damaged; 'nvrtccache verify' says more";
	case -ENOENT:
		return "it has just been removed";
	default:
		return console_reason(error);
	}
}

bool shown_read(const struct settings *settings, const struct inventory_record *record, const char *from,
                struct shown_list *ret_list)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct taking taking = {.list = ret_list, .used_ns = record->used};
	int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char key[KEY_TEXT_BYTES];
	int error;
	bool sound;

	*ret_list = (struct shown_list){.list = NULL};
	if (home < 0) {
		console_error("the working directory: %s", strerror(errno));
		return false;
	}
	if (from && chdir(from) < 0) {
		console_error("%s: %s", from, strerror(errno));
		close(home);
		return false;
	}
	error = fchdir(home) < 0 ? -errno : inventory_read(&directory, record->key, take, &taking);
	if (error != 0) {
		key_spell(record->key, key);
		console_error("%s/v1/%.2s/%s: %s", settings->directory, key, key + 2, reason(error));
	}
	turn_round(ret_list);
	sound = look(ret_list, from, home);
	close(home);
	return sound && error == 0;
}
