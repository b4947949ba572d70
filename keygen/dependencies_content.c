/* SPDX-License-Identifier: MIT */
/*
 * A hit needs one stat per file, but not an open and a read per file: a fact replaces reading the content and opening
 * the file, except for one file per directory.
 */
#include "keygen/dependencies_content.h"

#include <errno.h>
#include <string.h>

void content_begin(struct content *content, struct dependencies_budget *budget, struct place *place)
{
	content->place = place;
	content->budget = budget;
	content->sampled = false;
	facts_begin(&content->facts);
}

void content_end(struct content *content)
{
	facts_end(&content->facts);
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
static inline bool is_permitted(struct content *content, const uint8_t digest[KEY_BYTES], const struct file_stamp *now,
                                const struct facts_mount *mount)
{
	const struct credentials *credentials = &content->facts.credentials; /* they were read to know the content */
	const bool ours = content->facts.ours;
	const struct span directory = {content->place->path, content->place->directory_size};
	int error;

	if (content->sampled && !credentials->confined && ours) {
		return true;
	}
	if ((content->sampled ? !credentials->confined : credentials->steady) &&
	    facts_opened_here(&content->facts, &directory, now, mount, digest)) {
		content->sampled = true;
		return true;
	}
	content->sampled = true;
	error = place_open(content->place);
	if (error == 0 && (credentials->steady || !ours)) {
		facts_learn_opened(&content->facts, &directory, now, mount, digest);
	}
	return !is_refusal(error);
}

static enum dependency_state read_content(struct content *content, const uint8_t digest[KEY_BYTES],
                                          const struct file_stamp *now, const struct facts_mount *mount)
{
	bool settled = facts_settled(now, mount, stamp_now());
	struct key found;

	if (now->size > content->budget->bytes || place_digest(content->place, now, &found) != 0) {
		return DEPENDENCY_UNREADABLE;
	}
	content->budget->bytes -= now->size;
	content->sampled = true;
	if (settled) {
		facts_learn_content(&content->facts, now, mount, found.bytes);
	}
	return memcmp(found.bytes, digest, KEY_BYTES) == 0 ? DEPENDENCY_UNCHANGED : DEPENDENCY_CHANGED;
}

enum dependency_state content_ask(struct content *content, const uint8_t digest[KEY_BYTES],
                                  const struct file_stamp *now, uint64_t number)
{
	const struct facts_mount *mount = facts_mount(&content->facts, content->place->path, now->device, number);

	if (!facts_know_content(&content->facts, now, mount, digest)) {
		return read_content(content, digest, now, mount);
	}
	return is_permitted(content, digest, now, mount) ? DEPENDENCY_UNCHANGED : DEPENDENCY_UNREADABLE;
}
