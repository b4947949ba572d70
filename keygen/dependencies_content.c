/* SPDX-License-Identifier: MIT */
/*
 * The cost of a hit is here: one stat per file is unavoidable, an open per file is not. So a stamp replaces the
 * content, and a credential replaces the open, except for one file per directory.
 */
#include "keygen/dependencies_read.h"

#include "keygen/credentials.h"
#include "keygen/digest.h"
#include "keygen/mount.h"
#include "keygen/stamp.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * remembered: digests of files that this process has read, so that kernels which share headers read them once
 *
 * Purpose: a digest is found by mount, stamp and credentials. Only files that were settled when they were read are
 * remembered, so that an equal stamp means equal content. A remembered file also proves that a thread of these
 * credentials opened it.
 *
 * At most REMEMBERED_FILES are remembered; later ones replace earlier ones. The table is allocated at the first one
 * and never freed.
 *
 * Errors: a file that cannot be remembered or found is read again. Threads: any; a slot that another thread is using
 * counts as empty, so no thread waits. Fork: a slot that a thread of the parent was using stays unusable in the child.
 * Signals: not from handlers.
 */

#define REMEMBERED_FILES 8192

struct remembered_file {
	struct mount mount;
	struct file_stamp stamp;
	uint8_t who[CREDENTIALS_BYTES];
};

#define WAYS 4

struct slot {
	atomic_flag busy;
	bool set;
	struct remembered_file file;
	struct key digest;
};

static _Atomic(struct slot *) table;

static bool same_file(const struct remembered_file *one, const struct remembered_file *other)
{
	return mount_same(&one->mount, &other->mount) && file_stamp_same(&one->stamp, &other->stamp) &&
	       memcmp(one->who, other->who, sizeof(one->who)) == 0;
}

/* Returns the first slot of the set that the file belongs to. */
static size_t set_of(const struct remembered_file *file)
{
	uint64_t mixed = (file->stamp.inode ^ (file->stamp.device << 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 32) % (REMEMBERED_FILES / WAYS) * WAYS;
}

static struct slot *take_slot(struct slot *slot)
{
	return atomic_flag_test_and_set_explicit(&slot->busy, memory_order_acquire) ? NULL : slot;
}

static void release_slot(struct slot *slot)
{
	atomic_flag_clear_explicit(&slot->busy, memory_order_release);
}

static bool remembered_find(const struct remembered_file *file, struct key *ret_digest)
{
	struct slot *slots = atomic_load_explicit(&table, memory_order_acquire);
	bool found = false;

	if (!slots) {
		return false;
	}
	slots += set_of(file);
	for (size_t i = 0; i < WAYS && !found; i++) {
		struct slot *slot = take_slot(&slots[i]);

		if (slot) {
			found = slot->set && same_file(&slot->file, file);
			if (found) {
				*ret_digest = slot->digest;
			}
			release_slot(slot);
		}
	}
	return found;
}

/* Returns the table; the first caller allocates it. */
static struct slot *get_table(void)
{
	struct slot *slots = atomic_load_explicit(&table, memory_order_acquire);
	struct slot *others = NULL;

	if (slots) {
		return slots;
	}
	slots = calloc(REMEMBERED_FILES, sizeof(*slots)); /* with all supported compilers a clear atomic_flag is zero */
	if (slots && !atomic_compare_exchange_strong_explicit(&table, &others, slots, memory_order_acq_rel,
	                                                      memory_order_acquire)) {
		free(slots);
		slots = others;
	}
	return slots;
}

static void fill_slot(struct slot *slot, const struct remembered_file *file, const struct key *digest)
{
	slot->set = true;
	slot->file = *file;
	slot->digest = *digest;
}

/* Replaces the same file's earlier state, or fills an empty slot, or replaces the slots of the set in turn. */
static void remembered_keep(const struct remembered_file *file, const struct key *digest)
{
	static _Atomic unsigned turn;
	struct slot *slots = get_table();
	struct slot *slot;
	bool done = false;

	if (!slots) {
		return;
	}
	slots += set_of(file);
	for (size_t i = 0; i < WAYS && !done; i++) {
		slot = take_slot(&slots[i]);
		if (!slot) {
			continue;
		}
		done = !slot->set ||
		       (slot->file.stamp.inode == file->stamp.inode && slot->file.stamp.device == file->stamp.device);
		if (done) {
			fill_slot(slot, file, digest);
		}
		release_slot(slot);
	}
	slot = done ? NULL : take_slot(&slots[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % WAYS]);
	if (slot) {
		fill_slot(slot, file, digest);
		release_slot(slot);
	}
}

void content_begin(struct content *content, const void *bytes, size_t size, enum content_want want, struct place *place)
{
	content->bytes = bytes;
	content->size = size;
	content->place = place;
	content->same_boot = false;
	content->sights.count = 0; /* the other fields are written before they are read */
	content->sights.recorded = &content->stamps;
	content->credentials_set = false;
	content->sampled = false;
	content->left = CONTENT_READ_MAX;
	content->wants_anew = want == CONTENT_ANEW;
	content->anew = NULL;
	content->gained = 0;
}

void content_taken(struct content *content, const struct fixed_stamps *stamps)
{
	uint8_t boot[MOUNT_BOOT_BYTES];

	content->stamps = *stamps;
	content->began_ns = content->wants_anew ? stamp_now() : INT64_MIN;
	content->same_boot = stamps->taken_ns != 0 && mount_boot(boot) && memcmp(boot, stamps->boot, sizeof(boot)) == 0;
}

void content_enter(struct content *content)
{
	content->sampled = false;
}

void content_end(struct content *content)
{
	free(content->anew);
	content->anew = NULL;
}

static bool begin_anew(struct content *content)
{
	if (!content->anew && content->wants_anew) {
		content->anew = malloc(content->size);
		content->wants_anew = content->anew != NULL;
		if (content->anew) {
			memcpy(content->anew, content->bytes, content->size);
		}
	}
	return content->anew != NULL;
}

void content_moved(struct content *content, const struct checked_item *item, const struct file_stamp *now)
{
	struct fixed_identity identity = item->identity;

	if (begin_anew(content)) {
		identity.device = now->device;
		identity.inode = now->inode;
		memcpy(content->anew + item->at, &identity, sizeof(identity));
	}
}

static void stamp_anew(struct content *content, const struct checked_item *item, const struct file_stamp *now,
                       bool settled)
{
	struct fixed_identity identity = item->identity;
	struct fixed_content digest = item->content;

	if (begin_anew(content)) {
		identity.device = now->device;
		identity.inode = now->inode;
		identity.mtime_ns = now->mtime_ns;
		identity.settled = settled;
		digest.ctime_ns = now->ctime_ns;
		memcpy(content->anew + item->at, &identity, sizeof(identity));
		memcpy(content->anew + item->at + sizeof(identity), &digest, sizeof(digest));
		content->gained += settled;
	}
}

static const struct credentials *look_credentials(struct content *content)
{
	if (!content->credentials_set) {
		credentials_look(&content->credentials);
		content->credentials_set = true;
	}
	return &content->credentials;
}

static struct remembered_file file_of(struct content *content, const struct file_stamp *now, const struct mount *mount)
{
	struct remembered_file file = {.mount = *mount, .stamp = *now};

	memcpy(file.who, look_credentials(content)->who, sizeof(file.who));
	return file;
}

enum opened { OPENED_NEVER, OPENED_BEFORE };

/*
 * Returns OPENED_BEFORE if a thread of these credentials opened the file at this ctime, now or when the stamps were
 * taken.
 */
static enum opened was_opened(struct content *content, const struct file_stamp *now, const struct mount *mount)
{
	struct remembered_file file;
	struct key digest;

	if (memcmp(look_credentials(content)->who, content->stamps.who, CREDENTIALS_BYTES) == 0) {
		return OPENED_BEFORE;
	}
	file = file_of(content, now, mount);
	return remembered_find(&file, &digest) ? OPENED_BEFORE : OPENED_NEVER;
}

/*
 * Opens the file unless a thread of these credentials has. Landlock's rules apply to whole directories and can be set
 * without no_new_privs (with CAP_SYS_ADMIN), so one file of each directory is always opened. -EMFILE and -ENFILE mean
 * that the host has no descriptors left: the file was neither refused nor opened.
 */
static int open_sample(struct content *content, enum opened opened)
{
	if (opened == OPENED_BEFORE && content->sampled && !look_credentials(content)->confined) {
		return 0;
	}
	content->sampled = true;
	return place_open(content->place);
}

static bool is_refusal(int error)
{
	return error != 0 && error != -EMFILE && error != -ENFILE;
}

/* Returns true if this thread may open a file whose content is known by its stamp. */
static bool is_permitted(struct content *content, const struct checked_item *item, const struct file_stamp *now,
                         const struct mount *mount)
{
	enum opened opened = was_opened(content, now, mount);
	int error = open_sample(content, opened);

	if (error == 0 && opened == OPENED_NEVER) {
		struct remembered_file file = file_of(content, now, mount);
		struct key digest;

		memcpy(digest.bytes, item->content.digest, sizeof(digest.bytes));
		remembered_keep(&file, &digest);
	}
	return !is_refusal(error);
}

/* Finds the digest of a file that this process has read before. */
static bool find_digest(struct content *content, const struct file_stamp *now, const struct mount *mount,
                        struct key *ret_digest)
{
	struct remembered_file file = file_of(content, now, mount);

	return remembered_find(&file, ret_digest) && !is_refusal(open_sample(content, OPENED_BEFORE));
}

static enum content_answer read_content(struct content *content, const struct checked_item *item,
                                        const struct stat *stat, const struct file_stamp *now,
                                        const struct mount *mount)
{
	bool settled = stamp_counts(now, mount, stamp_now());
	struct key digest;

	if (!settled || !find_digest(content, now, mount, &digest)) {
		if (now->size > content->left || place_digest(content->place, stat, &digest) != 0) {
			return CONTENT_UNREADABLE;
		}
		content->left -= now->size;
		content->sampled = true;
		if (settled) {
			struct remembered_file file = file_of(content, now, mount);

			remembered_keep(&file, &digest);
		}
	}
	if (memcmp(digest.bytes, item->content.digest, KEY_BYTES) != 0) {
		return CONTENT_CHANGED;
	}
	stamp_anew(content, item, now, settled);
	return CONTENT_SAME;
}

static bool same_stamp(const struct checked_item *item, const struct file_stamp *now)
{
	return item->identity.settled && now->device == item->identity.device && now->inode == item->identity.inode &&
	       now->size == item->identity.size && now->mtime_ns == item->identity.mtime_ns &&
	       now->ctime_ns == item->content.ctime_ns;
}

enum content_answer content_ask(struct content *content, const struct checked_item *item, const struct stat *stat,
                                const struct file_stamp *now, uint64_t number)
{
	static const struct mount unknown = {.kind = MOUNT_UNKNOWN};
	struct sight *sight = sights_see(&content->sights, content->place->path, now->device, number);
	bool same = same_stamp(item, now);

	if (sight && !same) {
		sight->changed = true;
	}
	if (!same || !sight || !sight->recorded || !content->same_boot || now->size == 0) {
		return read_content(content, item, stat, now, sight ? &sight->mount : &unknown);
	}
	return is_permitted(content, item, now, &sight->mount) ? CONTENT_SAME : CONTENT_UNREADABLE;
}

bool directory_counts(const char *path, const struct file_stamp *stamp, const struct mount *mount, int64_t read_ns)
{
	return S_ISDIR(stamp->mode) && stamp_counts(stamp, mount, read_ns) && mount_times_entries(path) &&
	       !stamp_may_be_encrypted(path);
}

bool content_same_directory(struct content *content, const struct place_group *group, const struct file_stamp *now,
                            uint64_t number)
{
	const struct fixed_directory *then = &group->stamp;
	bool same = then->settled && S_ISDIR(now->mode) && now->device == then->device && now->inode == then->inode &&
	            now->mtime_ns == then->mtime_ns && now->ctime_ns == then->ctime_ns;
	struct sight *sight =
	    same && content->same_boot ? sights_see(&content->sights, content->place->path, now->device, number) : NULL;

	return sight && sight->recorded;
}

void content_stamp_directory(struct content *content, const struct place_group *group, const struct file_stamp *now,
                             uint64_t number)
{
	const struct fixed_directory stamp = {
	    .device = now->device,
	    .inode = now->inode,
	    .mtime_ns = now->mtime_ns,
	    .ctime_ns = now->ctime_ns,
	    .settled = 1,
	};
	struct sight *sight;

	/* A directory that changes all the time (/tmp) must not cause a rewrite of the entry at each hit. */
	if (!content->anew && content->same_boot) {
		return;
	}
	sight = sights_see(&content->sights, content->place->path, now->device, number);
	if (sight && directory_counts(content->place->path, now, &sight->mount, content->began_ns) &&
	    begin_anew(content)) {
		sight->changed = sight->changed || group->stamp.settled;
		memcpy(content->anew + group->stamp_at, &stamp, sizeof(stamp));
	}
}

uint8_t *content_anew(struct content *content)
{
	struct fixed_stamps stamps;
	uint8_t *anew = content->anew;

	/* A copy whose stamps spare no later reading is not worth rewriting the entry for. */
	if (!anew || content->gained == 0) {
		return NULL;
	}
	sights_renew(&content->sights, &content->stamps, &stamps);
	memcpy(anew + DEPENDENCIES_STAMPS_AT, &stamps, sizeof(stamps));
	content->anew = NULL;
	return anew;
}
