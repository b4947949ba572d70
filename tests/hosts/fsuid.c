/* SPDX-License-Identifier: MIT */
/*
 * fsuid: a host of root that takes another user's rights to files for some compilations, as file servers do
 *
 * usage: fsuid LIBRARY FILE      each compilation of the fake NVRTC reads FILE; prints what comes of each
 */
#include "tests/hosts/host.h"

#include <sys/fsuid.h>

static void compile_as(const struct compiler *compiler, unsigned user, const char *file)
{
	char option[4200];
	const char *options[] = {option};
	nvrtcProgram program;
	int result;

	snprintf(option, sizeof(option), "--fake-open=%s", file);
	(void)setfsuid(user);
	program = host_create(compiler, 1);
	result = compiler->nvrtcCompileProgram(program, 1, options);
	printf("%u: %d %016llx\n", user, result, (unsigned long long)host_ask(compiler, program));
	compiler->nvrtcDestroyProgram(&program);
}

int main(int argc, char **argv)
{
	struct compiler compiler;

	if (argc < 3) {
		return 2;
	}
	host_open(argv[1], &compiler);
	compile_as(&compiler, 0, argv[2]);
	compile_as(&compiler, 65533, argv[2]);
	compile_as(&compiler, 0, argv[2]);
	return 0;
}
