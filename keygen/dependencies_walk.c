/* SPDX-License-Identifier: MIT */
/*
 * Each field is checked before it is used, because entries come from archives, remote caches and other users too.
 * Functions that run for each path of each hit are inline: as calls between files they take an eighth of the time of a
 * hit with CUB.
 */
#include "keygen/dependencies_walk.h"

#include "keygen/dependencies_content.h"
#include "keygen/dependencies_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* The file that the paths of a class name now. */
struct seen {
	uint64_t device;
	uint64_t inode;
	bool set;
};

struct walk {
	const struct walk_order *order;
	struct cursor cursor;
	uint32_t flags, groups, classes;
	uint32_t items;      /* not yet read as part of a group */
	struct root *root;   /* the text of each root; text NULL: not known */
	struct seen *seen;   /* by class */
	uint32_t *taken;     /* open-addressed set of the files in `seen`, by class + 1 */
	uint32_t taken_mask; /* the size of the set, a power of two, less 1 */
	struct dependencies_told told;
	struct content content;
	struct place place;
};

/* One path of the dependencies. */
struct checked_item {
	uint32_t kind;
	uint32_t number; /* ITEM_ABSENT: the error; otherwise the class */
	struct fixed_identity identity;
	const uint8_t *digest;
};

/* Adds the file of a class to the set of files. If another class has it, two files have become one. */
static inline void take_file(struct walk *walk, uint32_t class)
{
	const struct seen *file = &walk->seen[class];
	uint64_t hash = (file->device * UINT64_C(0x9e3779b97f4a7c15) ^ file->inode) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(hash >> 32) & walk->taken_mask;

	for (; walk->taken[at] != 0; at = (at + 1) & walk->taken_mask) {
		const struct seen *other = &walk->seen[walk->taken[at] - 1];

		if (other->device == file->device && other->inode == file->inode) {
			walk->told.joined = true;
			return;
		}
	}
	walk->taken[at] = class + 1;
}

/* Records the file that the item's path names now; returns false if paths of one class are no longer one file. */
static inline bool note_file(struct walk *walk, const struct checked_item *item, const struct file_stamp *now)
{
	struct seen *seen = &walk->seen[item->number];

	if (!seen->set) {
		*seen = (struct seen){.device = now->device, .inode = now->inode, .set = true};
		take_file(walk, item->number);
		return true;
	}
	return seen->device == now->device && seen->inode == now->inode;
}

static inline enum dependency_state ask_present(struct walk *walk, const struct checked_item *item,
                                                const struct file_stamp *now, uint64_t number)
{
	if ((now->mode & S_IFMT) != item->identity.type) {
		return DEPENDENCY_OTHER_KIND;
	}
	if (!note_file(walk, item, now)) {
		return DEPENDENCY_OTHER_FILE;
	}
	if (S_ISDIR(now->mode)) {
		return item->kind == ITEM_IDENTITY ? DEPENDENCY_UNCHANGED : DEPENDENCY_DAMAGED;
	}
	if (walk->told.exact && (now->size != item->identity.size || now->mtime_ns != item->identity.mtime_ns)) {
		return DEPENDENCY_TOUCHED;
	}
	if (item->kind == ITEM_IDENTITY) {
		return DEPENDENCY_UNCHANGED;
	}
	if (!S_ISREG(now->mode)) {
		return DEPENDENCY_DAMAGED;
	}
	if (now->size != item->identity.size) {
		return DEPENDENCY_CHANGED;
	}
	return content_ask(&walk->content, item->digest, now, number);
}

static inline enum dependency_state ask_path(struct walk *walk, const struct checked_item *item)
{
	struct file_stamp now;
	uint64_t number;
	int error = place_look(&walk->place, &now, &number);

	if (item->kind != ITEM_ABSENT) {
		return error == 0 ? ask_present(walk, item, &now, number) : DEPENDENCY_GONE;
	}
	if (error == 0) {
		return DEPENDENCY_APPEARED;
	}
	if (error == (int)item->number) {
		return DEPENDENCY_UNCHANGED;
	}
	/*
	 * A log says "Not a directory" of a path in a file, and nothing of one in a missing directory. Other errors
	 * (EACCES, EIO) hide whether the file exists now.
	 */
	return error == ENOENT || error == ENOTDIR ? DEPENDENCY_OTHER_KIND : DEPENDENCY_DOUBTFUL;
}

/* Reads a text. Returns NULL if it contains a NUL or is longer than a path may be. */
static inline const char *read_text(struct walk *walk, size_t size)
{
	const char *text = size < PATH_MAX ? cursor_bytes(&walk->cursor, size) : NULL;

	return text && !memchr(text, '\0', size) ? text : NULL;
}

static inline bool read_fixed(struct walk *walk, void *ret_struct, size_t size)
{
	const void *bytes = cursor_bytes(&walk->cursor, size);

	if (bytes) {
		memcpy(ret_struct, bytes, size);
	}
	return bytes != NULL;
}

/* Reads the next item of the group, and selects its path. */
static inline int read_item(struct walk *walk, struct checked_item *ret_item)
{
	struct fixed_item head;
	const char *name;

	if (!read_fixed(walk, &head, sizeof(head)) || !(name = read_text(walk, head.size)) ||
	    memchr(name, '/', head.size)) {
		return -EBADMSG;
	}
	ret_item->kind = head.kind;
	ret_item->number = head.number;
	if (head.kind != ITEM_ABSENT) {
		if ((head.kind != ITEM_IDENTITY && head.kind != ITEM_CONTENT) || head.number >= walk->classes ||
		    !read_fixed(walk, &ret_item->identity, sizeof(ret_item->identity)) ||
		    (head.kind == ITEM_CONTENT && !(ret_item->digest = cursor_bytes(&walk->cursor, KEY_BYTES)))) {
			return -EBADMSG;
		}
	}
	return place_name(&walk->place, name, head.size);
}

/*
 * A path whose root is not known is reported relative to it, with the root's number. Not inline: few hits report a
 * path, and inlined it would take registers from the loop of all hits.
 */
__attribute__((noinline, cold)) static int report_item(struct walk *walk, const struct place_group *group,
                                                       const struct checked_item *item, enum dependency_state state)
{
	const bool is_rootless = group->base == BASE_CWD || group->base == BASE_LITERAL || group->base_size > 0;
	struct dependency dependency = {
	    .state = state,
	    .path = walk->place.path,
	    .root = state == DEPENDENCY_NOT_ASKED && !is_rootless ? group->base : DEPENDENCY_NO_ROOT,
	    .relative = group->base == BASE_CWD,
	};

	if (state == DEPENDENCY_DAMAGED) {
		return -EBADMSG;
	}
	dependency.kind = item->kind == ITEM_CONTENT    ? DEPENDENCY_CONTENT
	                  : item->kind == ITEM_IDENTITY ? DEPENDENCY_PLACE
	                                                : DEPENDENCY_ABSENT;
	if (item->kind != ITEM_ABSENT) {
		dependency.size = item->identity.size;
		dependency.directory = S_ISDIR(item->identity.type);
	}
	return walk->order->report(&dependency, walk->order->context);
}

/* `asked`: the base of the paths is known. */
static int walk_items(struct walk *walk, const struct place_group *group, bool asked)
{
	const bool every = walk->order->every;
	int error = 0;

	for (uint32_t i = group->items; error == 0 && i > 0; i--) {
		struct checked_item item;
		enum dependency_state state;

		error = read_item(walk, &item);
		if (error == 0) {
			state = asked ? ask_path(walk, &item) : DEPENDENCY_NOT_ASKED;
			if (state != DEPENDENCY_UNCHANGED || every) {
				error = report_item(walk, group, &item, state);
			}
		}
	}
	return error;
}

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

void dependencies_budget_begin(struct dependencies_budget *ret_budget)
{
	*ret_budget = (struct dependencies_budget){.paths = DEPENDENCIES_PATHS_MAX, .bytes = DEPENDENCIES_BYTES_MAX};
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
	walk->content.sampled = false;
	error = spend_budget(walk->order->budget, group.items) ? place_enter(&walk->place, &group) : -E2BIG;
	return error ? error : walk_items(walk, &group, asked);
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
	walk->told.bound_roots++;
	return report(walk, &dependency);
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
	content_begin(&walk.content, order->budget, &walk.place);
	error = walk_all(&walk, size);
	content_end(&walk.content);
	place_close(&walk.place);
	free(walk.root);
	if (error == 0) {
		*ret_told = walk.told;
	}
	return error;
}
