/* SPDX-License-Identifier: MIT */
/*
 * The raw system call does not block: early at boot it fails, and the fallback is used, so that the host is not
 * delayed.
 */
#include "interpose/compile/runtime.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/random.h>

#define AT_RANDOM_BYTES 16

int secret_make(struct secret *ret_secret)
{
	const void *started_with;

	if (syscall(SYS_getrandom, ret_secret, sizeof(*ret_secret), GRND_NONBLOCK) == (long)sizeof(*ret_secret)) {
		return 0;
	}
	/* getauxval() returns the address as a number. */
	started_with = (const void *)getauxval(AT_RANDOM); /* NOLINT(performance-no-int-to-ptr) */
	digest_secret(started_with, started_with ? AT_RANDOM_BYTES : 0, ret_secret);
	return started_with ? 0 : -ENOSYS;
}
