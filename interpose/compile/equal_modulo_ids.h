/* SPDX-License-Identifier: MIT */
/*
 * equal_modulo_ids: is it what the compiler would give, but for what it makes anew in every process? (docs/DESIGN.md
 * B14)
 *
 * Module ids (_<8 hex>_<pid>: the second of the clock and the process) and, up to 12.6, the numbers of calls in
 * comments of PTX count as equal, and so do the run times that ptxas tells with -v. Everything else is compared byte
 * for byte. Process numbers of more or fewer digits change the lengths in mangled names and move what lies behind the
 * names in a CUBIN: then its sections are compared. What cannot be compared so, and differs: debug information (-G),
 * which spells names byte by byte and is full of offsets; LTO-IR and OptiX IR, which are sealed: a module id changes
 * all that lies behind their heads.
 *
 * Calling sequence: a pure function. Errors: none.
 */
#ifndef INTERPOSE_COMPILE_EQUAL_MODULO_IDS_H
#define INTERPOSE_COMPILE_EQUAL_MODULO_IDS_H

#include <stdbool.h>
#include <stddef.h>

/* Is it such: does it begin as LTO-IR and OptiX IR do from 12.0 on, or hold debug information? */
bool hides_ids(const void *bytes, size_t size);
bool equal_modulo_ids(const void *left, size_t left_size, const void *right, size_t right_size);

#endif
