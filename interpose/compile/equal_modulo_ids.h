/* SPDX-License-Identifier: MIT */
/*
 * equal_modulo_ids: compares artifacts apart from what the compiler makes anew in every process (docs/DESIGN.md B14)
 *
 * Module ids (_<8 hex>_<pid>: the second of the clock and the process) count as equal, and so do, up to 12.6, the
 * numbers of calls in comments of PTX and the run times that ptxas tells with -v. Everything else is compared byte for
 * byte.
 *
 * Not every difference by a module id alone can be seen as one. LTO-IR and OptiX IR are sealed: an id changes all that
 * lies behind their heads. Debug information (-G) spells names byte by byte. A process number of more digits makes names
 * longer, which changes their lengths in mangled names and moves what lies behind them in a CUBIN.
 *
 * Calling sequence: pure functions. Errors: none.
 */
#ifndef INTERPOSE_COMPILE_EQUAL_MODULO_IDS_H
#define INTERPOSE_COMPILE_EQUAL_MODULO_IDS_H

#include <stdbool.h>
#include <stddef.h>

bool equal_modulo_ids(const void *left, size_t left_size, const void *right, size_t right_size);
/* Of two that are not equal: may module ids be all that differs, in a way that cannot be compared? */
bool differ_by_hidden_ids(const void *left, size_t left_size, const void *right, size_t right_size);

#endif
