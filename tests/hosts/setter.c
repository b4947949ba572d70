/* SPDX-License-Identifier: MIT */
/*
 * setter: a host that compiles in one thread while another sets variables
 *
 * usage: setter LIBRARY COUNT      compiles one program COUNT times, and prints how many had another result
 *
 * The other thread adds variables and clears the environment, so that the array moves and is freed all the time. A
 * reader in another thread may then crash in any getenv() of libc (before 2.41), with and without a cache.
 */
#include "tests/hosts/host.h"

#include <stdatomic.h>

static atomic_bool stopping;

static void *set_often(void *unused)
{
	char name[32];

	while (!atomic_load(&stopping)) {
		for (int i = 0; i < 4000 && !atomic_load(&stopping); i++) {
			snprintf(name, sizeof(name), "SETTER_%d", i);
			setenv(name, "1", 1);
		}
		clearenv();
	}
	return unused;
}

int main(int argc, char **argv)
{
	struct compiler compiler;
	pthread_t thread;
	uint64_t expected;
	int others = 0;

	if (argc < 3) {
		return 2;
	}
	alarm(600);
	host_open(argv[1], &compiler);
	expected = host_compile(&compiler, 1, 0);
	pthread_create(&thread, NULL, set_often, NULL);
	for (int i = atoi(argv[2]); i > 0; i--) {
		others += host_compile(&compiler, 1, 0) != expected;
	}
	atomic_store(&stopping, true);
	pthread_join(thread, NULL);
	printf("others %d\n", others);
	return 0;
}
