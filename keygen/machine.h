/* SPDX-License-Identifier: MIT */
/*
 * machine: the machine's numbers that a compiler asked for, as dependencies of a result (docs/DESIGN.md B22)
 *
 * Purpose: NVRTC splits a compilation with -split-compile=0 by the number of processors, and the PTX differs with it.
 * The watch records the question and the answer; a look-up asks the machine the same question again.
 *
 * A question is one word: a function in the low byte, its argument above. Questions are stored in entries, so the
 * number of a function is never reused.
 *
 * Threads: any. Fork, signals: no state. Errors: machine_ask() returns false for a question of a later version, or if
 * sched_getaffinity() fails (more than 1024 processors).
 */
#ifndef KEYGEN_MACHINE_H
#define KEYGEN_MACHINE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_GET_NPROCS UINT32_C(1)
#define MACHINE_SYSCONF    UINT32_C(2)
#define MACHINE_AUXILIARY  UINT32_C(3) /* getauxval */
#define MACHINE_AFFINITY   UINT32_C(4) /* sched_getaffinity of the calling thread; the answer is a digest of the set */

#define MACHINE_QUESTION(function, argument) ((function) | (uint32_t)(argument) << 8)

struct machine_answer {
	uint32_t question;
	uint32_t zero;
	int64_t answer;
};

_Static_assert(sizeof(struct machine_answer) == 16, "no padding: it is written as it is");

/* A compilation that asks more questions is not cached. */
#define MACHINE_ANSWERS_MAX 8

/* Returns the digest of a set of processors, the answer to MACHINE_AFFINITY. */
int64_t machine_digest_set(const cpu_set_t *set);

/* Asks this machine a recorded question. */
bool machine_ask(uint32_t question, int64_t *ret_answer);

/* Returns the question in words: "number of processors". At most MACHINE_WORDS_MAX bytes with the NUL. */
#define MACHINE_WORDS_MAX 64
const char *machine_words(uint32_t question, char words[MACHINE_WORDS_MAX]);

#endif
