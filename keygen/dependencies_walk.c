/* SPDX-License-Identifier: MIT */
/* Each field is checked before it is used, because entries come from archives, remote caches and other users too. */
#include "keygen/dependencies_walk.h"

#include "keygen/dependencies_format.h"
#include "keygen/dependencies_look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int read_group(struct walk *walk, struct place_group *ret_group)
{
	struct cursor *cursor = &walk->cursor;
	struct place_group group = {.base = cursor_u32(cursor), .base_text = ""};
	bool free_base = group.base == BASE_CWD || group.base == BASE_LITERAL;
	bool absolute;

	group.hints = cursor_u32(cursor);
	group.items = cursor_u32(cursor);
	group.directory_size = cursor_u32(cursor);
	group.directory = read_text(walk, group.directory_size);
	if (!group.directory || cursor->failed || (!free_base && group.base >= walk->told.roots)) {
		return -EBADMSG;
	}
	absolute = group.directory_size > 0 && group.directory[0] == '/';
	if (group.directory_size > 0 && group.directory[group.directory_size - 1] != '/') {
		return -EBADMSG;
	}
	/*
	 * A directory relative to the cwd has no leading slash and may be empty. Others begin with a slash, except that
	 * the directory of a root itself is empty.
	 */
	if (group.base == BASE_CWD ? absolute : !absolute && (free_base || group.directory_size > 0)) {
		return -EBADMSG;
	}
	if (group.items == 0 || group.items > walk->items) {
		return -EBADMSG;
	}
	walk->items -= group.items;
	*ret_group = group;
	return 0;
}

/* Returns false if the base of the group's paths is not known. */
static bool find_base(const struct walk *walk, struct place_group *group)
{
	if (group->base == BASE_LITERAL) {
		return walk->order->look;
	}
	if (group->base == BASE_CWD) {
		return walk->order->here;
	}
	if (!walk->root[group->base].text) {
		return false;
	}
	group->base_text = walk->root[group->base].text;
	group->base_size = walk->root[group->base].size;
	return walk->order->look;
}

static int64_t budget_clock(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Returns false if the paths of a group are beyond the budget. The time begins with the first group. */
static bool spend_budget(struct dependencies_budget *budget, uint32_t paths)
{
	int64_t now = budget_clock();

	if (budget->until_ns == 0) {
		budget->until_ns = now + DEPENDENCIES_NS_MAX;
	}
	if (paths > budget->paths || now > budget->until_ns) {
		budget->paths = 0;
		return false;
	}
	budget->paths -= paths;
	return true;
}

static int walk_group(struct walk *walk)
{
	struct place_group group;
	bool asked;
	int error = read_group(walk, &group);

	if (error != 0) {
		return error;
	}
	asked = find_base(walk, &group);
	if (!asked) {
		group.hints = 0; /* opens nothing */
	}
	walk->sampled = false;
	error = spend_budget(walk->order->budget, group.items) ? place_enter(&walk->place, &group) : -E2BIG;
	return error ? error : look_at_items(walk, &group, asked);
}

static int report(const struct walk *walk, const struct dependency *dependency)
{
	return dependency->state == DEPENDENCY_UNCHANGED && !walk->order->every
	           ? 0
	           : walk->order->report(dependency, walk->order->context);
}

/* Compares a library with the present one. If that is not known (NULL), only a process with the compiler can do so. */
static int walk_library(struct walk *walk, enum dependency_kind kind, const struct key *now)
{
	const uint8_t *then = cursor_bytes(&walk->cursor, KEY_BYTES);
	struct dependency dependency = {kind, DEPENDENCY_NOT_ASKED, .root = DEPENDENCY_NO_ROOT};

	if (then && now) {
		dependency.state = memcmp(then, now->bytes, KEY_BYTES) == 0 ? DEPENDENCY_UNCHANGED : DEPENDENCY_CHANGED;
	}
	return then ? report(walk, &dependency) : -EBADMSG;
}

static int walk_machine(struct walk *walk)
{
	uint32_t count = cursor_u32(&walk->cursor);
	int error = count <= MACHINE_ANSWERS_MAX ? 0 : -EBADMSG;

	for (; error == 0 && count > 0; count--) {
		struct dependency dependency = {DEPENDENCY_MACHINE, DEPENDENCY_NOT_ASKED, .root = DEPENDENCY_NO_ROOT};
		struct machine_answer then;

		if (!read_fixed(walk, &then, sizeof(then))) {
			return -EBADMSG;
		}
		dependency.question = then.question;
		dependency.answer = then.answer;
		if (walk->order->look && machine_ask(then.question, &dependency.now)) {
			dependency.state = dependency.now == then.answer ? DEPENDENCY_UNCHANGED : DEPENDENCY_CHANGED;
		}
		error = report(walk, &dependency);
	}
	return error;
}

/* A root that the result is bound to has its own text. */
static int walk_root(struct walk *walk, uint32_t number)
{
	const struct roots *roots = walk->order->roots;
	const struct root now = number < roots->count ? roots->root[number] : (struct root){0};
	struct dependency dependency = {DEPENDENCY_ROOT, DEPENDENCY_CHANGED, .root = number};
	const uint32_t size = cursor_u32(&walk->cursor);

	walk->root[number] = now;
	if (size == ROOT_FREE) {
		return 0;
	}
	dependency.path = cursor_bytes(&walk->cursor, size);
	dependency.size = size;
	if (!dependency.path) {
		return -EBADMSG;
	}
	if (now.text && size == now.size && memcmp(dependency.path, now.text, size) == 0) {
		dependency.state = DEPENDENCY_UNCHANGED;
	}
	walk->root[number] = (struct root){(char *)dependency.path, size};
	return walk->order->every ? 0 : report(walk, &dependency);
}

static int read_head(struct walk *walk, size_t size)
{
	struct cursor *cursor = &walk->cursor;
	uint32_t magic = cursor_u32(cursor);

	walk->flags = cursor_u32(cursor);
	walk->told = (struct dependencies_told){.roots = cursor_u32(cursor)};
	walk->told.exact = (walk->flags & DEPENDENCIES_EXACT) != 0;
	walk->groups = cursor_u32(cursor);
	walk->items = cursor_u32(cursor);
	walk->classes = cursor_u32(cursor);
	if (!cursor->failed && magic != DEPENDENCIES_MAGIC) {
		return -EPROTONOSUPPORT;
	}
	/* The counts are limited by the size, so that a damaged one cannot make the walk allocate gigabytes. */
	return cursor->failed || (walk->flags & ~DEPENDENCIES_FLAGS) != 0 ||
	               walk->told.roots > size / sizeof(uint32_t) || walk->items > size / sizeof(struct fixed_item) ||
	               walk->classes > walk->items
	           ? -EBADMSG
	           : 0;
}

/*
 * Makes the lists of roots and files, with at most half of the set in use. A set and not a comparison with recorded
 * device and inode numbers, because these differ from node to node.
 */
static int make_lists(struct walk *walk)
{
	const size_t count = walk->classes;
	size_t room = 2;

	while (room < 2 * count) {
		room *= 2;
	}
	walk->root = calloc(1, walk->told.roots * sizeof(*walk->root) + count * sizeof(*walk->seen) +
	                           room * sizeof(*walk->taken));
	if (!walk->root) {
		return -ENOMEM;
	}
	walk->seen = (struct seen *)(walk->root + walk->told.roots);
	walk->taken = (uint32_t *)(walk->seen + count);
	walk->taken_mask = (uint32_t)room - 1;
	return 0;
}

static int walk_all(struct walk *walk, size_t size)
{
	const struct roots *roots = walk->order->roots;
	int error = read_head(walk, size);

	if (error == 0 && walk->items > 0 && walk->order->agree && !walk->order->agree()) {
		error = -EXDEV;
	}
	if (error == 0) {
		error = make_lists(walk);
	}
	if (error == 0 && (walk->flags & DEPENDENCIES_COMPANION)) {
		error = walk_library(walk, DEPENDENCY_COMPANION, roots_companion(roots));
	}
	if (error == 0 && (walk->flags & DEPENDENCIES_ARITHMETIC)) {
		error = walk_library(walk, DEPENDENCY_ARITHMETIC, roots_arithmetic(roots));
	}
	if (error == 0 && (walk->flags & DEPENDENCIES_MACHINE)) {
		error = walk_machine(walk);
	}
	for (uint32_t i = 0; error == 0 && i < walk->told.roots; i++) {
		error = walk_root(walk, i);
	}
	for (uint32_t i = 0; error == 0 && i < walk->groups; i++) {
		error = walk_group(walk);
	}
	return error ? error : walk->items == 0 && cursor_at_end(&walk->cursor) ? 0 : -EBADMSG;
}

int walk_dependencies(const struct walk_order *order, const void *dependencies, size_t size,
                      struct dependencies_told *ret_told)
{
	struct walk walk; /* not cleared: clearing its PATH_MAX buffer would slow down each hit */
	int error;

	walk.order = order;
	walk.cursor = cursor_over(dependencies, size);
	walk.root = NULL;
	place_init(&walk.place);
	facts_begin(&walk.facts);
	error = walk_all(&walk, size);
	facts_end(&walk.facts);
	place_close(&walk.place);
	free(walk.root);
	if (error == 0) {
		*ret_told = walk.told;
	}
	return error;
}
