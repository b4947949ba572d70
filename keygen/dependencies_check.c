/* SPDX-License-Identifier: MIT */
/* dependencies_hold(): a walk whose visitor stops at the first dependency that does not hold, and describes it. */
#include "keygen/dependencies.h"
#include "keygen/dependencies_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct check {
	const struct roots *roots;
	char *why;
	size_t why_size;
};

static _Atomic(bool (*)(void)) paths_agree;

void dependencies_ask_paths(bool (*agree)(void))
{
	atomic_store_explicit(&paths_agree, agree, memory_order_relaxed);
}

/* Describes the failure and returns the error that ends the walk. */
__attribute__((format(printf, 2, 3))) static int refuse_walk(const struct check *check, const char *format, ...)
{
	va_list arguments;

	if (check->why_size > 0) {
		va_start(arguments, format);
		(void)vsnprintf(check->why, check->why_size, format, arguments);
		va_end(arguments);
	}
	return -ECANCELED;
}

/* Compares the libraries on which the result depends with the present ones. */
static int check_libraries(const struct check *check, const struct reader *reader)
{
	const struct key *now = reader->companion ? roots_companion(check->roots) : NULL;

	if (reader->companion && !now) {
		return refuse_walk(check, "the library that the compiler loads cannot be foretold");
	}
	if (reader->companion && memcmp(reader->companion, now->bytes, KEY_BYTES) != 0) {
		return refuse_walk(check, "the library that the compiler loads differs");
	}
	now = reader->arithmetic ? roots_arithmetic(check->roots) : NULL;
	return !reader->arithmetic || (now && memcmp(reader->arithmetic, now->bytes, KEY_BYTES) == 0)
	           ? 0
	           : refuse_walk(check, "the mathematics library differs");
}

static int check_machine(const struct check *check, const struct reader *reader)
{
	char words[MACHINE_WORDS_MAX];

	for (uint32_t i = 0; i < reader->answer_count; i++) {
		const struct machine_answer *then = &reader->answers[i];
		int64_t now = 0;

		if (!machine_ask(then->question, &now) || now != then->answer) {
			return refuse_walk(check, "the %s was %" PRId64 DEPENDENCIES_NOW "%" PRId64,
			                   machine_words(then->question, words), then->answer, now);
		}
	}
	return 0;
}

static int check_begin(struct walk *walk)
{
	bool (*agree)(void) = atomic_load_explicit(&paths_agree, memory_order_relaxed);
	const struct check *check = walk->context;
	int error = 0;

	if (walk->reader.items > 0 && agree && !agree()) {
		return refuse_walk(check,
		                   "another preloaded library redirects some functions that take paths, but not all");
	}
	error = check_libraries(check, &walk->reader);
	if (error == 0) {
		error = check_machine(check, &walk->reader);
	}
	if (error == 0 && walk->reader.roots != check->roots->count) {
		error = refuse_walk(check, "the number of roots differs");
	}
	return error;
}

static int check_root(struct walk *walk, uint32_t number, const char *text, size_t size)
{
	const struct check *check = walk->context;
	const struct root *root = &check->roots->root[number];

	if (!text || (size == root->size && memcmp(text, root->text, size) == 0)) {
		return 0;
	}
	return refuse_walk(check, DEPENDENCIES_BOUND "%.*s" DEPENDENCIES_NOW "%.*s", size ? (int)size : 1,
	                   size ? text : "/", root->size ? (int)root->size : 1, root->size ? root->text : "/");
}

static int check_item(struct walk *walk, const struct place_group *group, const struct checked_item *item,
                      enum dependency_state state)
{
	static const char *const words[] = {
	    [DEPENDENCY_CHANGED] = "header changed",
	    [DEPENDENCY_TOUCHED] = "size or time changed",
	    [DEPENDENCY_GONE] = "file is gone",
	    [DEPENDENCY_APPEARED] = "file appeared",
	    [DEPENDENCY_UNREADABLE] = "header cannot be read",
	    [DEPENDENCY_OTHER_KIND] = "no longer the same kind of file",
	    [DEPENDENCY_OTHER_FILE] = "no longer the same file as another path",
	    [DEPENDENCY_DOUBTFUL] = "cannot tell whether the file is there",
	};

	(void)group;
	(void)item;
	return refuse_walk(walk->context, "%s: %s", words[state], walk->place.path);
}

static int check_classes(struct walk *walk)
{
	if (!walk_is_complete(walk)) {
		return -EBADMSG;
	}
	return walk->joined ? refuse_walk(walk->context, "two paths that were different files are one file") : 0;
}

/* Describes an error of the walk itself. */
static const char *error_words(int error)
{
	switch (error) {
	case -EPROTONOSUPPORT:
		return "the dependencies are of another version, or damaged";
	case -ENAMETOOLONG:
		return "a path is too long";
	case -ENOMEM:
		return "no memory";
	case -E2BIG:
		return "more files than a look-up compares";
	default:
		return "the dependencies are damaged";
	}
}

bool dependencies_hold_within(const void *dependencies, size_t size, const struct roots *roots,
                              struct dependencies_budget *budget, char *ret_why, size_t why_size)
{
	static const struct visitor visitor = {check_begin, check_root, check_item};
	struct check check = {.roots = roots, .why = ret_why, .why_size = ret_why ? why_size : 0};
	struct walk walk; /* not cleared: clearing its PATH_MAX buffer would slow down each hit */
	int error;

	if (size == 0) {
		return true;
	}
	walk.budget = budget;
	walk.visitor = &visitor;
	walk.context = &check;
	walk.every = false;
	walk.root = roots->root;
	walk.look = true;
	walk.here = true;
	error = walk_dependencies(&walk, dependencies, size);
	if (error == 0) {
		error = check_classes(&walk);
	}
	if (error != 0 && error != -ECANCELED) {
		(void)refuse_walk(&check, "%s", error_words(error));
	}
	walk_end(&walk);
	return error == 0;
}

bool dependencies_hold(const void *dependencies, size_t size, const struct roots *roots, char *ret_why, size_t why_size)
{
	struct dependencies_budget budget;

	dependencies_budget_begin(&budget);
	return dependencies_hold_within(dependencies, size, roots, &budget, ret_why, why_size);
}

bool dependencies_name_files(const void *dependencies, size_t size)
{
	struct cursor cursor = cursor_over(dependencies, size);
	uint32_t magic = cursor_u32(&cursor);
	uint32_t items;

	(void)cursor_u32(&cursor); /* flags, roots, groups */
	(void)cursor_u32(&cursor);
	(void)cursor_u32(&cursor);
	items = cursor_u32(&cursor);
	return size > 0 && (cursor.failed || magic != DEPENDENCIES_MAGIC || items > 0);
}
