/* SPDX-License-Identifier: MIT */
/*
 * complaints: what a library writes to stderr in a call, printed as an answer of that call
 *
 * Calling sequence: complaints_begin() right before the call, complaints_end() right behind it. Threads: one at a time.
 * Errors: what cannot be caught goes to stderr.
 */
#ifndef TESTS_CASES_COMPLAINTS_H
#define TESTS_CASES_COMPLAINTS_H

void complaints_begin(void);
void complaints_end(void);

#endif
