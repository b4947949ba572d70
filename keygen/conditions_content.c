/* SPDX-License-Identifier: MIT */
#include "keygen/conditions_content.h"
#include "keygen/remembered.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void content_begin(struct content *content, const void *bytes, size_t size, enum content_want want, struct place *place)
{
	content->bytes = bytes;
	content->size = size;
	content->place = place;
	content->same_boot = false;
	content->sights.count = 0; /* the rest of it, and the stamps, are written before they are read */
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

static const struct credentials *credentials(struct content *content)
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

	memcpy(file.who, credentials(content)->who, sizeof(file.who));
	return file;
}

enum opened { OPENED_NEVER, OPENED_BEFORE };

/* Has a thread of these credentials opened the file at this ctime, here or where the stamps were taken? */
static enum opened was_opened(struct content *content, const struct file_stamp *now, const struct mount *mount)
{
	struct remembered_file file;
	struct key digest;

	if (memcmp(credentials(content)->who, content->stamps.who, CREDENTIALS_BYTES) == 0) {
		return OPENED_BEFORE;
	}
	file = file_of(content, now, mount);
	return remembered_find(&file, &digest) ? OPENED_BEFORE : OPENED_NEVER;
}

/*
 * May this thread open the file? Landlock's rules are made for whole directories, and may have been made without
 * no_new_privs: one file of each directory is opened whatever was opened before. A host that has no descriptors left
 * was not refused the file, nor was it opened: -EMFILE, -ENFILE.
 */
static int open_sample(struct content *content, enum opened opened)
{
	if (opened == OPENED_BEFORE && content->sampled && !credentials(content)->confined) {
		return 0;
	}
	content->sampled = true;
	return place_open(content->place);
}

static bool is_refusal(int error)
{
	return error != 0 && error != -EMFILE && error != -ENFILE;
}

/* The same for one whose content is known by its stamp. */
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

/* What this process has read before needs no reading. */
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

uint8_t *content_anew(struct content *content)
{
	struct fixed_stamps stamps;
	uint8_t *anew = content->anew;

	if (!anew || content->gained == 0) {
		return NULL;
	}
	sights_renew(&content->sights, &content->stamps, &stamps);
	memcpy(anew + CONDITIONS_STAMPS_AT, &stamps, sizeof(stamps));
	content->anew = NULL;
	return anew;
}
