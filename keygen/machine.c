/* SPDX-License-Identifier: MIT */
#include "keygen/machine.h"

#include "keygen/digest.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sysinfo.h>
#include <unistd.h>

int64_t machine_digest_set(const cpu_set_t *set)
{
	const struct span span = {set, sizeof(*set)};
	struct key key;
	int64_t digest;

	digest_key(&span, 1, &key);
	/* Truncated, because an answer has 64 bits; the set itself has 1024. */
	memcpy(&digest, key.bytes, sizeof(digest));
	return digest;
}

static bool ask_affinity(int64_t *ret_answer)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0) {
		return false;
	}
	*ret_answer = machine_digest_set(&set);
	return true;
}

/*
 * Calls the same functions as the compiler, so that a preload that changes the compiler's answers changes these too.
 */
bool machine_ask(uint32_t question, int64_t *ret_answer)
{
	switch (question & 0xff) {
	case MACHINE_GET_NPROCS:
		*ret_answer = get_nprocs();
		return true;
	case MACHINE_SYSCONF:
		*ret_answer = sysconf((int)(question >> 8));
		return true;
	case MACHINE_AUXILIARY:
		*ret_answer = (int64_t)getauxval(question >> 8);
		return true;
	case MACHINE_AFFINITY:
		return ask_affinity(ret_answer);
	default:
		return false;
	}
}

const char *machine_words(uint32_t question, char words[MACHINE_WORDS_MAX])
{
	switch (question) {
	case MACHINE_GET_NPROCS:
	case MACHINE_QUESTION(MACHINE_SYSCONF, _SC_NPROCESSORS_ONLN):
		return "number of processors";
	case MACHINE_QUESTION(MACHINE_SYSCONF, _SC_NPROCESSORS_CONF):
		return "number of configured processors";
	case MACHINE_AFFINITY:
		return "set of processors of the thread (digest)";
	default:
		(void)snprintf(words, MACHINE_WORDS_MAX, "answer of %s(%u)",
		               (question & 0xff) == MACHINE_SYSCONF     ? "sysconf"
		               : (question & 0xff) == MACHINE_AUXILIARY ? "getauxval"
		                                                        : "an unknown function",
		               question >> 8);
		return words;
	}
}
