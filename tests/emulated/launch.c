/* SPDX-License-Identifier: MIT */
/*
 * launch: stands for a program of another machine, and runs it under qemu
 *
 * A copy of it lies at FROM/<path> for a program at TO/<path>; qemu is QEMU, and what the program is linked with lies in
 * ROOT. It is linked statically, so that LD_PRELOAD and the like, which name libraries of the other machine, mean nothing
 * to it; and they are kept from qemu, which is a program of this machine. LAUNCH_PRELOAD is the program's LD_PRELOAD, for
 * whom there are programs of this machine in between.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 100

extern char **environ;

int main(int argc, char **argv)
{
	static char self[PATH_MAX], program[2 * PATH_MAX];
	const char *preload = getenv("LAUNCH_PRELOAD");
	char **words = calloc((size_t)argc + 2 * MANY, sizeof(*words));
	size_t count = 0;

	if (!words || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
	    strncmp(self, FROM "/", sizeof(FROM)) != 0) {
		fprintf(stderr, "launch: %s stands for nothing\n", self);
		return 126;
	}
	snprintf(program, sizeof(program), "%s/%s", TO, self + sizeof(FROM));
	words[count++] = QEMU;
	words[count++] = "-L";
	words[count++] = ROOT;
	words[count++] = "-0";
	words[count++] = argv[0];
	if (preload) {
		unsetenv("LD_PRELOAD");
		words[count++] = "-E";
		words[count] = NULL;
		if (asprintf(&words[count++], "LD_PRELOAD=%s", preload) < 0) {
			return 126;
		}
	}
	for (char **variable = environ; *variable && count < MANY;) {
		if (strncmp(*variable, "LD_", 3) != 0) {
			variable++;
			continue;
		}
		words[count++] = "-E";
		words[count++] = *variable;
		for (char **next = variable; *next; next++) {
			next[0] = next[1];
		}
	}
	unsetenv("LAUNCH_PRELOAD");
	words[count++] = program;
	for (int i = 1; i < argc; i++) {
		words[count++] = argv[i];
	}
	execv(QEMU, words);
	perror("launch: " QEMU);
	return 126;
}
