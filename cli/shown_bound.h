/* SPDX-License-Identifier: MIT */
/*
 * shown_bound: what a result is bound to, and why
 *
 * Calling sequence: for shown.c alone: shown_find_bound() once its entry and `result` are there; shown_bound_directory()
 * once `told` is too. Errors: -ENOMEM.
 */
#ifndef CLI_SHOWN_BOUND_H
#define CLI_SHOWN_BOUND_H

#include "cli/shown.h"

int shown_find_bound(struct shown *shown);
/* The working directory of the request, where the result is bound to it; NULL: it is not known. */
const char *shown_bound_directory(const struct shown *shown);

#endif
