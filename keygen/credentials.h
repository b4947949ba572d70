/* SPDX-License-Identifier: MIT */
/*
 * credentials: the rights with which this thread opens files
 *
 * Purpose: only the kernel knows whether a file may be opened: mode bits do not show access control lists, and neither
 * mode bits nor faccessat() show Landlock's rules. But a file that one thread could open can be opened by any
 * unconfined thread with the same credentials as long as the file's ctime is the same, because a change of owner,
 * mode, list or label changes ctime.
 *
 * `who`: a digest of users (that of the file system too), groups, capabilities, user namespace and security
 * label of the calling thread. `confined`: true if no_new_privs is set, or if any of these facts could not be read.
 * `who` does not show Landlock's rules, but a process without CAP_SYS_ADMIN must set no_new_privs before it can
 * restrict itself with Landlock.
 *
 * `steady`: no rule can have been added since a thread with the same `who` opened a file in this process. A rule of
 * Landlock or seccomp needs no_new_privs or CAP_SYS_ADMIN, and rules of SELinux and AppArmor give labels.
 *
 * Errors: none. State: a flag that this kernel has no labels, which is true in a forked child too.
 */
#ifndef KEYGEN_CREDENTIALS_H
#define KEYGEN_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#define CREDENTIALS_BYTES 16

struct credentials {
	uint8_t who[CREDENTIALS_BYTES];
	bool confined;
	bool steady;
};

/* Reads the credentials of the calling thread. */
void credentials_look(struct credentials *ret_credentials);

#endif
