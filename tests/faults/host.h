/* SPDX-License-Identifier: MIT */
/*
 * host: what a program does with the fake NVRTC, written down
 *
 * Purpose: a job is one program compiled in one world (a directory with headers, entered by chdir) by one library.
 * host_do() writes all that the job sees into a text: return codes, sizes, bytes, log, lowered names. The worlds are
 * alike but for one header each: a result that was found without all that it depends on shows in another world.
 *
 *   A as it is        B the header says something else, in as many bytes
 *   C another header of that name comes earlier on the search path        D there is none
 *
 * What is expected was done in a process without the cache, so that the answers are those of the fake alone.
 * Ownership: texts belong to their struct, and there is room for the longest.
 */
#ifndef FAULTS_HOST_H
#define FAULTS_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_TEXT_MAX (size_t)(4 << 20)
#define HOST_FILLERS  160

enum world { WORLD_A, WORLD_B, WORLD_C, WORLD_D, WORLDS };
enum library { LIBRARY_13, LIBRARY_13B, LIBRARIES };
enum program { PROGRAM_PLAIN, PROGRAM_FAILING, PROGRAM_DEBUG, PROGRAM_LARGE, PROGRAM_FILLER };

struct job {
	enum program program; /* PROGRAM_FILLER + i, i < HOST_FILLERS: all alike but for a macro */
	enum world world;
	enum library library;
};

struct host_text {
	size_t size;
	char bytes[HOST_TEXT_MAX];
};

/* Where the worlds are made, and where the fakes are. To be called once, before everything else. */
bool host_open(const char *base, const char *fakes);
void host_do(const struct job *job, struct host_text *text);
/* How often NVRTC itself compiled in this process. */
int host_compiles(void);

/* For the process without the cache: does every job and writes what it saw to `path`. Then for the others: reads it. */
bool host_write_expected(const char *path);
bool host_read_expected(const char *path);
bool host_as_expected(const struct job *jobs, size_t count, const struct host_text *text);

#endif
