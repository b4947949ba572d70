/* SPDX-License-Identifier: MIT */
/*
 * A hit needs one stat per file, but not an open and a read per file: an equal stamp replaces reading the content, and
 * equal credentials replace opening the file, except for one file per directory.
 */
#include "keygen/dependencies_content.h"

#include "keygen/credentials.h"
#include "keygen/digest.h"
#include "keygen/mount.h"
#include "keygen/recall.h"
#include "keygen/stamp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Digests of files that this process has read, by mount, stamp and credentials, so that a header which several kernels
 * share is read once. Only files that were settled when they were read are remembered, so that an equal stamp means
 * equal content. A remembered file also proves that a thread with these credentials opened it.
 */
static struct recall remembered = {.count = 8192};

void content_begin(struct content *content, const void *bytes, size_t size, enum content_want want,
                   struct dependencies_budget *budget, struct place *place)
{
	content->bytes = bytes;
	content->size = size;
	content->place = place;
	content->same_boot = false;
	content->sights.count = 0; /* the other fields are written before they are read */
	content->sights.recorded = &content->stamps;
	content->credentials_set = false;
	content->sampled = false;
	content->budget = budget;
	content->wants_anew = want == CONTENT_ANEW;
	content->anew = NULL;
	content->gained = 0;
}

void content_taken(struct content *content, const struct fixed_stamps *stamps)
{
	uint8_t boot[MOUNT_BOOT_BYTES];

	content->stamps = *stamps;
	content->same_boot = stamps->taken_ns != 0 && mount_boot(boot) && memcmp(boot, stamps->boot, sizeof(boot)) == 0;
}

void content_end(struct content *content)
{
	free(content->anew);
	content->anew = NULL;
}

/* Makes the copy that receives new stamps, if it is wanted and not yet made. Returns false if there is no copy. */
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

static struct recall_key key_of(struct content *content, const struct file_stamp *now, const struct mount *mount)
{
	struct recall_key key = {{mount->device, mount->number, mount->kind, now->device, now->inode, now->size,
	                          (uint64_t)now->mtime_ns, (uint64_t)now->ctime_ns, now->mode}};

	memcpy(&key.words[9], look_credentials(content)->who, CREDENTIALS_BYTES);
	return key;
}

_Static_assert(CREDENTIALS_BYTES == 2 * sizeof(uint64_t), "they are the last two words of a key");

enum opened { OPENED_NEVER, OPENED_BEFORE };

static bool was_opened_here(struct content *content, const struct file_stamp *now, const struct mount *mount)
{
	struct recall_key key = key_of(content, now, mount);
	struct key digest;

	return recall_find(&remembered, &key, &digest);
}

/*
 * Returns OPENED_BEFORE if a thread with these credentials opened the file at this ctime, in this process or when the
 * stamps were taken.
 */
static enum opened was_opened(struct content *content, const struct file_stamp *now, const struct mount *mount)
{
	if (memcmp(look_credentials(content)->who, content->stamps.who, CREDENTIALS_BYTES) == 0) {
		return OPENED_BEFORE;
	}
	return was_opened_here(content, now, mount) ? OPENED_BEFORE : OPENED_NEVER;
}

/*
 * Opens the file unless a thread with these credentials has opened it. Landlock's rules apply to whole directories and
 * can be set without no_new_privs (with CAP_SYS_ADMIN), so one file of each directory is always opened. Returns 0 or
 * the error of the open. -EMFILE and -ENFILE mean that no descriptor is left, and do not show whether this thread may
 * open the file.
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
	bool steady = !content->sampled && look_credentials(content)->steady;
	struct key digest;
	int error;

	/* No rule can forbid the directory's first file since this process opened it. */
	if (steady && was_opened_here(content, now, mount)) {
		content->sampled = true;
		return true;
	}
	error = open_sample(content, opened);
	if (error == 0 && (opened == OPENED_NEVER || steady)) {
		struct recall_key key = key_of(content, now, mount);

		memcpy(digest.bytes, item->content.digest, sizeof(digest.bytes));
		recall_keep(&remembered, &key, &digest);
	}
	return !is_refusal(error);
}

/* Finds the digest of a file that this process has read before and that this thread may open. */
static bool find_digest(struct content *content, const struct file_stamp *now, const struct mount *mount,
                        struct key *ret_digest)
{
	struct recall_key key = key_of(content, now, mount);

	return recall_find(&remembered, &key, ret_digest) && !is_refusal(open_sample(content, OPENED_BEFORE));
}

static enum dependency_state read_content(struct content *content, const struct checked_item *item,
                                          const struct stat *stat, const struct file_stamp *now,
                                          const struct mount *mount)
{
	bool settled = stamp_counts(now, mount, stamp_now());
	struct key digest;

	if (!settled || !find_digest(content, now, mount, &digest)) {
		if (now->size > content->budget->bytes || place_digest(content->place, stat, &digest) != 0) {
			return DEPENDENCY_UNREADABLE;
		}
		content->budget->bytes -= now->size;
		content->sampled = true;
		if (settled) {
			struct recall_key key = key_of(content, now, mount);

			recall_keep(&remembered, &key, &digest);
		}
	}
	if (memcmp(digest.bytes, item->content.digest, KEY_BYTES) != 0) {
		return DEPENDENCY_CHANGED;
	}
	stamp_anew(content, item, now, settled);
	return DEPENDENCY_UNCHANGED;
}

static bool same_stamp(const struct checked_item *item, const struct file_stamp *now)
{
	return item->identity.settled && now->device == item->identity.device && now->inode == item->identity.inode &&
	       now->size == item->identity.size && now->mtime_ns == item->identity.mtime_ns &&
	       now->ctime_ns == item->content.ctime_ns;
}

enum dependency_state content_ask(struct content *content, const struct checked_item *item, const struct stat *stat,
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
	return is_permitted(content, item, now, &sight->mount) ? DEPENDENCY_UNCHANGED : DEPENDENCY_UNREADABLE;
}

uint8_t *content_anew(struct content *content)
{
	struct fixed_stamps stamps;
	uint8_t *anew = content->anew;

	/* If no new stamp saves a later read, rewriting the entry is not worth its cost. */
	if (!anew || content->gained == 0) {
		return NULL;
	}
	sights_renew(&content->sights, &content->stamps, &stamps);
	memcpy(anew + DEPENDENCIES_STAMPS_AT, &stamps, sizeof(stamps));
	content->anew = NULL;
	return anew;
}
