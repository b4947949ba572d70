/* SPDX-License-Identifier: MIT */
/*
 * credentials: the rights with which this thread opens files
 *
 * Purpose: only the kernel knows whether a file may be opened: mode bits do not show access control lists, and neither
 * mode bits nor faccessat() show Landlock's rules. But a file that one thread could open can be opened by any
 * unconfined thread with the same credentials as long as the file's ctime is the same, because a change of owner,
 * mode, list or label changes ctime.
 *
 * `who`: a digest of user, groups, capabilities, user namespace and security label of the calling thread. `confined`:
 * no_new_privs is set. A process must set it before it restricts itself with Landlock, which `who` does not show,
 * unless it has CAP_SYS_ADMIN. True also if any of the facts could not be read.
 *
 * Errors: none. State: whether this kernel has labels, which fork does not change.
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
