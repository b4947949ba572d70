/* SPDX-License-Identifier: MIT */
/*
 * storm: threads that create, compile, ask and destroy at random
 *
 * usage: storm LIBRARY THREADS ROUNDS VARIANTS
 *
 * What each thread does follows from its number alone. All threads that compile one thing must be told the same, and a
 * program that all of them ask must not change. Prints "bad N", what each thing gave, and "compiles N".
 */
#include "tests/hosts/host.h"

#include <stdatomic.h>

enum { VARIANTS_MAX = 64, THREADS_MAX = 32, ARCHITECTURES = 3, LAST = VARIANTS_MAX * ARCHITECTURES };

static struct compiler compiler;
static int rounds, variants;
static nvrtcProgram shared;
static uint64_t shared_digest;
static _Atomic uint64_t seen[LAST];
static atomic_int bad;

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void compare(int variant, int architecture, uint64_t digest)
{
	uint64_t none = 0;

	if (!atomic_compare_exchange_strong(&seen[variant * ARCHITECTURES + architecture], &none, digest) &&
	    none != digest) {
		atomic_fetch_add(&bad, 1);
	}
}

/* Two programs side by side; one may go without a compile, or be compiled a second time. */
static void step(uint32_t *state)
{
	int variant = (int)(next(state) % (uint32_t)variants), architecture = (int)(next(state) % ARCHITECTURES);
	nvrtcProgram first = host_create(&compiler, variant);
	nvrtcProgram second = host_create(&compiler, (int)(next(state) % (uint32_t)variants));
	int result;

	if (next(state) % 4 == 0) {
		(void)host_ask(&compiler, first);
	}
	result = host_build(&compiler, first, architecture);
	if (next(state) % 4 == 0) {
		compiler.nvrtcDestroyProgram(&second);
		second = NULL; /* NVRTC leaves it as it was */
	}
	compare(variant, architecture, host_mix(host_ask(&compiler, first), &result, sizeof(result)));
	if (next(state) % 8 == 0) {
		(void)host_build(&compiler, first, (int)(next(state) % ARCHITECTURES));
		(void)host_ask(&compiler, first);
	}
	compiler.nvrtcDestroyProgram(&first);
	if (second != NULL) {
		compiler.nvrtcDestroyProgram(&second);
	}
	if (host_ask(&compiler, shared) != shared_digest) {
		atomic_fetch_add(&bad, 1);
	}
}

static void *run(void *number)
{
	uint32_t state = 2463534242u + 7919u * (uint32_t)(uintptr_t)number;

	for (int i = 0; i < rounds; i++) {
		step(&state);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	int count = argc > 4 ? atoi(argv[2]) : 0;

	if (count < 1 || count > THREADS_MAX) {
		return 2;
	}
	rounds = atoi(argv[3]);
	variants = atoi(argv[4]) < VARIANTS_MAX ? atoi(argv[4]) : VARIANTS_MAX;
	host_open(argv[1], &compiler);
	shared = host_create(&compiler, VARIANTS_MAX);
	(void)host_build(&compiler, shared, 0);
	shared_digest = host_ask(&compiler, shared);
	for (int i = 0; i < count; i++) {
		pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i);
	}
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
	}
	compiler.nvrtcDestroyProgram(&shared);
	printf("bad %d\nshared %016llx\n", bad, (unsigned long long)shared_digest);
	for (int i = 0; i < LAST; i++) {
		if (seen[i] != 0) {
			printf("%d %016llx\n", i, (unsigned long long)seen[i]);
		}
	}
	printf("compiles %d\n", host_compiles(&compiler));
	return bad != 0;
}
