/* SPDX-License-Identifier: MIT */
/*
 * credentials: as whom this thread opens files
 *
 * Purpose: whether a file may be opened is known to the kernel alone: modes say nothing of access control lists, and
 * neither they nor faccessat() of Landlock. But what one could open, another of the same credentials can, as long as
 * the file's ctime stands still (which moves with owner, mode, lists and labels), unless he is confined.
 *
 * `who`: a digest of user, groups, capabilities, user namespace and security label of the calling thread.
 * `confined`: no_new_privs is set, as it is by all who put a thread under rules of which `who` knows nothing
 * (Landlock), but for those who have CAP_SYS_ADMIN and leave it out. In doubt: confined.
 *
 * Errors: none. State: whether this kernel has labels, which no fork changes.
 */
#ifndef KEYGEN_CREDENTIALS_H
#define KEYGEN_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#define CREDENTIALS_BYTES 16

struct credentials {
	uint8_t who[CREDENTIALS_BYTES];
	bool confined;
};

void credentials_look(struct credentials *ret_credentials);

#endif
