/* SPDX-License-Identifier: MIT */
/*
 * reopen: a host that closes NVRTC and opens it again, many times
 *
 * usage: reopen MODE COUNT LIBRARY [OTHER]
 *
 *   compile    compiles each time
 *   create     only creates and destroys a program: the library really goes away
 *   keep       leaves a program behind each time, made and compiled before the library is closed; asks the last one
 *              through the functions of the library as it is opened again
 *   moved      as create, at another address each time; compiles at the end
 *   turns      LIBRARY and OTHER take turns, compiling each time
 *
 * "grown" tells whether memory grew by a MiB, descriptors or mappings by a few in the second half.
 */
#include "tests/files.h"
#include "tests/hosts/host.h"

static int lines_of_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	int count = 0;

	for (int c = getc(file); c != EOF; c = getc(file)) {
		count += c == '\n';
	}
	fclose(file);
	return count;
}

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	int count = argc > 3 ? atoi(argv[2]) : 0;
	uint64_t digests[2] = {0, 0};
	struct compiler compiler = {0};
	int maps = 0, files = 0, bad = 0;
	long before = 0;

	for (int i = 0; i < count; i++) {
		nvrtcProgram program;
		uint64_t digest = 0;
		const char *path = argv[strcmp(mode, "turns") == 0 ? 3 + i % 2 : 3];

		host_open(path, &compiler);
		program = host_create(&compiler, 1);
		if (strcmp(mode, "create") != 0 && strcmp(mode, "moved") != 0) {
			(void)host_build(&compiler, program, 0);
			digest = host_ask(&compiler, program);
			bad += digests[i % 2] != 0 && digests[i % 2] != digest;
			digests[i % 2] = digest;
		}
		if (strcmp(mode, "keep") != 0) {
			compiler.nvrtcDestroyProgram(&program);
		}
		if (i == count / 2) {
			before = pages_of_process(PAGES_RESIDENT);
			maps = lines_of_maps();
			files = descriptors_open();
		}
		if (i < count - 1 || strcmp(mode, "keep") == 0) {
			dlclose(compiler.handle);
		}
		if (strcmp(mode, "keep") == 0) {
			host_open(path, &compiler);
			bad += host_ask(&compiler, program) != digest;
			dlclose(compiler.handle);
		}
		for (int hole = 0; strcmp(mode, "moved") == 0 && hole < 64; hole++) { /* of what was unmapped */
			mmap(NULL, 32768, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		}
	}
	printf("bad %d\ngrown %d %d %d\n", bad,
	       (pages_of_process(PAGES_RESIDENT) - before) * sysconf(_SC_PAGESIZE) > 1 << 20,
	       strcmp(mode, "moved") != 0 && lines_of_maps() > maps + 4, descriptors_open() != files);
	printf("digest %016llx %016llx\n", (unsigned long long)digests[0], (unsigned long long)digests[1]);
	if (strcmp(mode, "moved") == 0) {
		printf("at last %016llx\n", (unsigned long long)host_compile(&compiler, 1, 0));
		printf("at last %016llx\n", (unsigned long long)host_compile(&compiler, 1, 0));
	}
	if (strcmp(mode, "keep") != 0) {
		printf("compiles %d\n", host_compiles(&compiler));
	}
	return 0;
}
