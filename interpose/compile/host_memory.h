/* SPDX-License-Identifier: MIT */
/*
 * host_memory: reads memory of the host that it may have freed
 *
 * It is read through the kernel, so that unmapped memory causes an error, where a load instruction would crash the
 * host. Threads, fork: no state. Errors: less is read.
 */
#ifndef INTERPOSE_COMPILE_HOST_MEMORY_H
#define INTERPOSE_COMPILE_HOST_MEMORY_H

#include <stddef.h>

/* Copies the bytes up to the first page that cannot be read. Returns their number. */
size_t host_memory_read(void *to, const void *from, size_t size);

#endif
