/* SPDX-License-Identifier: MIT */
/*
 * Functions that run for each path of each hit are inline: as calls between files they take an eighth of the time of a
 * hit with CUB.
 */
#include "keygen/dependencies_look.h"

#include "keygen/dependencies_format.h"

#include <errno.h>
#include <sys/stat.h>

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

/* -EMFILE and -ENFILE mean that no descriptor is left, and do not show whether this thread may open the file. */
static bool is_refusal(int error)
{
	return error != 0 && error != -EMFILE && error != -ENFILE;
}

/*
 * Returns true if this thread may open a file whose content is known: a thread with the same credentials has opened it.
 * Landlock's rules apply to whole directories and can be set without no_new_privs (with CAP_SYS_ADMIN), so one file of
 * each directory is opened; and every file if the thread is confined. No rule can forbid the directory's first file to
 * a steady thread since this process opened it.
 */
static inline bool is_permitted(struct walk *walk, const uint8_t digest[KEY_BYTES], const struct file_stamp *now,
                                const struct facts_mount *mount)
{
	const struct credentials *credentials = &walk->facts.credentials; /* they were read to know the content */
	const struct span directory = {walk->place.path, walk->place.directory_size};
	int error;

	if (walk->facts.ours &&
	    (walk->sampled ? !credentials->confined
	                   : credentials->steady && facts_opened_here(&walk->facts, &directory, now, mount, digest))) {
		walk->sampled = true;
		return true;
	}
	walk->sampled = true;
	error = place_open(&walk->place);
	if (error == 0 && credentials->steady) {
		facts_learn(&walk->facts, &directory, now, mount, digest);
	}
	return !is_refusal(error);
}

static enum dependency_state read_content(struct walk *walk, const uint8_t digest[KEY_BYTES],
                                          const struct file_stamp *now, const struct facts_mount *mount)
{
	bool settled = facts_settled(now, mount, stamp_now());
	struct key found;

	if (now->size > walk->order->budget->bytes || place_digest(&walk->place, now, &found) != 0) {
		return DEPENDENCY_UNREADABLE;
	}
	walk->order->budget->bytes -= now->size;
	walk->sampled = true;
	if (settled) {
		facts_learn(&walk->facts, NULL, now, mount, found.bytes);
	}
	return memcmp(found.bytes, digest, KEY_BYTES) == 0 ? DEPENDENCY_UNCHANGED : DEPENDENCY_CHANGED;
}

static inline enum dependency_state ask_content(struct walk *walk, const uint8_t digest[KEY_BYTES],
                                                const struct file_stamp *now, uint64_t number)
{
	const struct facts_mount *mount = facts_mount(&walk->facts, walk->place.path, now->device, number);

	if (!facts_know_content(&walk->facts, now, mount, digest)) {
		return read_content(walk, digest, now, mount);
	}
	return is_permitted(walk, digest, now, mount) ? DEPENDENCY_UNCHANGED : DEPENDENCY_UNREADABLE;
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
	return ask_content(walk, item->digest, now, number);
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

int look_at_items(struct walk *walk, const struct place_group *group, bool asked)
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
