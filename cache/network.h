/* SPDX-License-Identifier: MIT */
/*
 * network: detects network file systems, whose locks may be valid on one node only or cost a round trip each
 *
 * If fstatfs() fails, the file counts as being on a network file system. Threads: any.
 */
#ifndef CACHE_NETWORK_H
#define CACHE_NETWORK_H

#include <stdbool.h>

/* Returns whether the open file is on a network file system. */
bool network_is(int file);

#endif
