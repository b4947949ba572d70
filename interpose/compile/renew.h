/* SPDX-License-Identifier: MIT */
/*
 * renew: results whose files had to be read are given stamps of now
 *
 * Purpose: stamps mean something on one node, until its next boot, and while the files stay where they are. A result
 * that was fetched, imported, baked into an image, or made before the last boot is read once, and then costs the next
 * process what a result of its own costs.
 *
 * Calling sequence: after a look-up whose check left attempt->anew, and before the compile lock is released.
 * Errors: a result that cannot be written is served as it is.
 */
#ifndef INTERPOSE_COMPILE_RENEW_H
#define INTERPOSE_COMPILE_RENEW_H

#include "interpose/compile/attempt.h"

/* Where it was found; what memory has came from the directory, or went there. */
enum origin { ORIGIN_DIRECTORY, ORIGIN_BELOW };

/* Takes the reference to `entry` and gives one: to itself, or to the same with stamps of now. */
struct entry *renew(struct attempt *attempt, struct entry *entry, enum origin origin);

#endif
