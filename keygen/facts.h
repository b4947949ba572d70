/* SPDX-License-Identifier: MIT */
/*
 * facts: what is known of files, so that they need not be read again (docs/DESIGN.md B19-B21)
 *
 * A fact says: on this boot, a thread with these credentials opened the file that has this stamp in this mount, and it
 * had this content. A fact never becomes false: another content has another stamp, because only settled stamps in known
 * mounts are learned (facts_settled()). So facts are kept in no order, without locks, and as fingerprints of 16 bytes;
 * a damaged one is equal to none. The secret of the fingerprints keeps others from making two facts that look alike.
 *
 * The process holds a list of them, and a file holds those of earlier processes: one for each boot and set of
 * credentials, named by their digest, for all results. The list is filled from the file when the first fact is asked
 * for. facts_end() writes the file anew if a check has read files. Two processes that do so at once keep those of one;
 * the others are learned again. What threads with other credentials than those of the file read or open is not learned.
 *
 * Calling sequence: facts_keep_in() before there are threads (never: facts live as long as the process); for each check
 * facts_begin(), the other functions, facts_end(). Errors: what cannot be kept is read again. Threads: any, each with a
 * struct of its own; while one thread fills the table, others know nothing. Fork: a child has its parent's.
 */
#ifndef KEYGEN_FACTS_H
#define KEYGEN_FACTS_H

#include "keygen/credentials.h"
#include "keygen/digest.h"
#include "keygen/stamp.h"

#include <stddef.h>

#define FACTS_FILE_MAX   4096 /* facts in a file; later ones replace the oldest */
#define FACTS_FILE_BYTES (16 + KEY_BYTES + FACTS_FILE_MAX * sizeof(struct fingerprint))
#define FACTS_MOUNTS_MAX 8

/* Where the file is kept. `get` returns the size, or a negative errno value. */
struct facts_file {
	int (*get)(const struct key *name, void *bytes, size_t room);
	void (*put)(const struct key *name, const void *bytes, size_t size);
};

/* One check. */
struct facts {
	struct facts_mount {
		struct mount mount;
		uint64_t number;          /* from stamp_look(): one file system may have two mounts */
		struct fingerprint world; /* of the mount's identity */
	} mount[FACTS_MOUNTS_MAX];
	uint32_t mounts;
	struct credentials credentials; /* of the thread; read with the first mount */
	bool usable;                    /* the process has facts */
	bool ours;                      /* the credentials are those of the file */
	struct fingerprint *news;       /* learned by this check, and not in the file */
	size_t news_count;
};

void facts_keep_in(const struct facts_file *file);

void facts_begin(struct facts *facts);
void facts_end(struct facts *facts);

/*
 * Returns the mount of `path`, with the device and mount number that stamp_look() returned for it. Each is identified
 * once for each check. The ninth and later ones are MOUNT_UNKNOWN.
 */
const struct facts_mount *facts_add_mount(struct facts *facts, const char *path, uint64_t device, uint64_t number);
static inline const struct facts_mount *facts_mount(struct facts *facts, const char *path, uint64_t device,
                                                    uint64_t number)
{
	for (uint32_t i = 0; i < facts->mounts; i++) {
		if (facts->mount[i].mount.device == device && facts->mount[i].number == number) {
			return &facts->mount[i];
		}
	}
	return facts_add_mount(facts, path, device, number);
}

/* Returns true if an equal stamp of a file that was read after `read_ns` means equal content. */
bool facts_settled(const struct file_stamp *stamp, const struct facts_mount *mount, int64_t read_ns);

/*
 * Returns true if the file is known to have this content. It was opened by a thread with the credentials of the file of
 * facts; whether the present thread may open it is another question if these are not its own.
 */
bool facts_know_content(struct facts *facts, const struct file_stamp *stamp, const struct facts_mount *mount,
                        const uint8_t digest[KEY_BYTES]);
/* Returns true if a thread of this process with the present credentials has opened the file in that directory. */
bool facts_opened_here(struct facts *facts, const struct span *directory, const struct file_stamp *stamp,
                       const struct facts_mount *mount, const uint8_t digest[KEY_BYTES]);

/*
 * Learns what this thread has read (`directory` NULL), for the file of facts too, or opened in a directory, for this
 * process. The stamp must be settled.
 */
void facts_learn(struct facts *facts, const struct span *directory, const struct file_stamp *stamp,
                 const struct facts_mount *mount, const uint8_t digest[KEY_BYTES]);

#endif
