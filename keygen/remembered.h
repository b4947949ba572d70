/* SPDX-License-Identifier: MIT */
/*
 * remembered: what this process has read of files, so that kernels which share headers read them once
 *
 * Purpose: a digest, found by mount, stamp and credentials. Only what was settled when it was read belongs here: then
 * an equal stamp means equal content. Being found says too that a thread of these credentials has opened the file.
 *
 * Bounded: REMEMBERED_FILES, of which later ones take the places of earlier ones; taken as one piece of memory by the
 * first that is kept, and never given back.
 *
 * Errors: what cannot be kept or found is read again. Threads: any; a place that another thread is at counts as empty,
 * nobody waits. Fork: a place that a thread of the parent was at stays empty in the child. Signals: not from handlers.
 */
#ifndef KEYGEN_REMEMBERED_H
#define KEYGEN_REMEMBERED_H

#include "keygen/credentials.h"
#include "keygen/digest.h"
#include "keygen/mount.h"
#include "keygen/stamp.h"

#define REMEMBERED_FILES 8192

struct remembered_file {
	struct mount mount;
	struct file_stamp stamp;
	uint8_t who[CREDENTIALS_BYTES];
};

bool remembered_find(const struct remembered_file *file, struct key *ret_digest);
void remembered_keep(const struct remembered_file *file, const struct key *digest);

#endif
