/* SPDX-License-Identifier: MIT */
/*
 * network: file systems whose locks may hold on one node only, or take a round trip each
 *
 * A file system that does not answer counts as one.
 */
#ifndef CACHE_NETWORK_H
#define CACHE_NETWORK_H

#include <stdbool.h>

bool network_is(int file);

#endif
