/* SPDX-License-Identifier: MIT */
/*
 * pair: one or more NVRTC libraries in one process
 *
 * usage: pair LIBRARY...
 *
 * Their compiles take turns, with programs of all of them alive at once, twice over. Each line begins with the number
 * of the library's version, so that the lines of several libraries are those of each alone.
 */
#include "tests/hosts/host.h"

enum { LIBRARIES_MAX = 4, VARIANTS = 3 };

int main(int argc, char **argv)
{
	struct compiler compilers[LIBRARIES_MAX];
	nvrtcProgram programs[LIBRARIES_MAX][VARIANTS];
	int majors[LIBRARIES_MAX], minors[LIBRARIES_MAX];
	int count = argc - 1;

	if (count < 1 || count > LIBRARIES_MAX) {
		return 2;
	}
	for (int i = 0; i < count; i++) {
		host_open(argv[1 + i], &compilers[i]);
		if (compilers[i].nvrtcVersion(&majors[i], &minors[i]) != 0) {
			return 3;
		}
	}
	for (int round = 0; round < 2; round++) {
		for (int variant = 0; variant < VARIANTS; variant++) {
			for (int i = 0; i < count; i++) {
				programs[i][variant] = host_create(&compilers[i], 7 - variant);
			}
		}
		for (int variant = 0; variant < VARIANTS; variant++) {
			for (int i = count; i-- > 0;) {
				printf("%d.%d round %d variant %d compile %d\n", majors[i], minors[i], round, variant,
				       host_build(&compilers[i], programs[i][variant], variant));
			}
		}
		for (int variant = 0; variant < VARIANTS; variant++) {
			for (int i = 0; i < count; i++) {
				printf("%d.%d round %d variant %d digest %016llx\n", majors[i], minors[i], round,
				       variant, (unsigned long long)host_ask(&compilers[i], programs[i][variant]));
				compilers[i].nvrtcDestroyProgram(&programs[i][variant]);
			}
		}
	}
	for (int i = 0; i < count; i++) {
		printf("compiles %d\n", host_compiles(&compilers[i]));
	}
	return 0;
}
