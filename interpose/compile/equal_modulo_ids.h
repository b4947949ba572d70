/* SPDX-License-Identifier: MIT */
/*
 * equal_modulo_ids: compares artifacts except for texts that a compiler generates anew in every process
 * (docs/DESIGN.md)
 *
 * Module ids (_<8 hex>_<pid>: the time in seconds and the process) count as equal, and, up to 12.6, so do the call
 * numbers in comments of PTX and the run times that ptxas reports with -v. Everything else is compared byte by byte.
 *
 * Some differences that come only from a module id cannot be recognised. LTO-IR and OptiX IR are encoded: an id
 * changes everything after their heads. Debug information (-G) writes names byte by byte. A process id with more
 * digits makes names longer, which changes their lengths in mangled names and moves what follows them in a CUBIN.
 *
 * Calling sequence: pure functions. Errors: none.
 */
#ifndef INTERPOSE_COMPILE_EQUAL_MODULO_IDS_H
#define INTERPOSE_COMPILE_EQUAL_MODULO_IDS_H

#include <stdbool.h>
#include <stddef.h>

bool equal_modulo_ids(const void *left, size_t left_size, const void *right, size_t right_size);
/* For two unequal artifacts: returns true if they may differ only by module ids, in a form that cannot be compared. */
bool differ_by_hidden_ids(const void *left, size_t left_size, const void *right, size_t right_size);

#endif
