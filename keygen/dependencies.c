/* SPDX-License-Identifier: MIT */
/* dependencies_hold() and dependencies_tell(): walks that end at the first change, and that go on to the end. */
#include "keygen/dependencies.h"

#include "keygen/dependencies_format.h"
#include "keygen/dependencies_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

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

static int refuse_root(const struct check *check, const struct dependency *dependency)
{
	const struct root *now;

	if (dependency->root >= check->roots->count) {
		return 0; /* the number of roots is compared at the end */
	}
	now = &check->roots->root[dependency->root];
	return refuse_walk(check, DEPENDENCIES_BOUND "%.*s" DEPENDENCIES_NOW "%.*s",
	                   dependency->size ? (int)dependency->size : 1, dependency->size ? dependency->path : "/",
	                   now->size ? (int)now->size : 1, now->size ? now->text : "/");
}

/* Ends the walk of dependencies_hold(), to which only dependencies that do not hold are reported. */
static int refuse_dependency(const struct dependency *dependency, void *context)
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
	    [DEPENDENCY_NOT_ASKED] = "the number of roots differs",
	};
	char question[MACHINE_WORDS_MAX];

	switch (dependency->kind) {
	case DEPENDENCY_COMPANION:
		return refuse_walk(context, "the library that the compiler loads %s",
		                   dependency->state == DEPENDENCY_CHANGED ? "differs" : "cannot be foretold");
	case DEPENDENCY_ARITHMETIC:
		return refuse_walk(context, "the mathematics library differs");
	case DEPENDENCY_MACHINE:
		return refuse_walk(context, "the %s was %" PRId64 DEPENDENCIES_NOW "%" PRId64,
		                   machine_words(dependency->question, question), dependency->answer, dependency->now);
	case DEPENDENCY_ROOT:
		return refuse_root(context, dependency);
	default:
		return refuse_walk(context, "%s: %s", words[dependency->state], dependency->path);
	}
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
	case -EXDEV:
		return "another preloaded library redirects some functions that take paths, but not all";
	case -E2BIG:
		return "more files than a look-up compares";
	default:
		return "the dependencies are damaged";
	}
}

/* Checks dependencies in the directories of the present request. */
static int check_all(const struct walk_order *order, const void *dependencies, size_t size)
{
	const struct check *check = order->context;
	struct dependencies_told told;
	int error = walk_dependencies(order, dependencies, size, &told);

	if (error == 0 && told.roots != check->roots->count) {
		error = refuse_walk(check, "the number of roots differs");
	}
	if (error == 0 && told.joined) {
		error = refuse_walk(check, "two paths that were different files are one file");
	}
	return error != 0 && error != -ECANCELED ? refuse_walk(check, "%s", error_words(error)) : error;
}

bool dependencies_hold(const void *dependencies, size_t size, const struct roots *roots,
                       struct dependencies_budget *budget, char *ret_why, size_t why_size)
{
	struct dependencies_budget own = DEPENDENCIES_BUDGET;
	struct check check = {.roots = roots, .why = ret_why, .why_size = ret_why ? why_size : 0};
	const struct walk_order order = {
	    .budget = budget ? budget : &own,
	    .roots = roots,
	    .agree = atomic_load_explicit(&paths_agree, memory_order_relaxed),
	    .look = true,
	    .here = true,
	    .report = refuse_dependency,
	    .context = &check,
	};

	return size == 0 || check_all(&order, dependencies, size) == 0;
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

int dependencies_tell(const void *dependencies, size_t size, const struct roots *roots, bool is_here,
                      int (*each)(const struct dependency *dependency, void *context), void *context)
{
	struct dependencies_budget unlimited = {UINT64_MAX, DEPENDENCIES_BYTES_MAX, INT64_MAX};
	struct dependencies_told told;
	const struct walk_order order = {
	    .budget = &unlimited,
	    .roots = roots ? roots : &(const struct roots){0},
	    .look = roots != NULL,
	    .here = is_here,
	    .every = true,
	    .report = each,
	    .context = context,
	};

	return size == 0 ? 0 : walk_dependencies(&order, dependencies, size, &told);
}
