/* SPDX-License-Identifier: MIT */
/*
 * look_up: the way from a described attempt to a result that holds: memory front, directory, what lies below it
 *
 * Fills in the attempt's fingerprint and key, what was found stale on the way (and into its event: why), and whether the
 * result came from memory. Stamps that had to be taken anew are written (renew.h).
 *
 * Threads: any, on different attempts. Fork, signals: no. Errors: what cannot be read is a miss, counted and logged.
 */
#ifndef INTERPOSE_COMPILE_LOOK_UP_H
#define INTERPOSE_COMPILE_LOOK_UP_H

#include "interpose/compile/attempt.h"

/* The entry that answers this attempt, with a reference, or NULL. */
struct entry *look_up(struct attempt *attempt);

#endif
