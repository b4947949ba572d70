/* SPDX-License-Identifier: MIT */
/*
 * library: finds the libnvrtccache.so that `run` and `env` preload, checks that the loader accepts it, and runs a
 * program
 *
 * If a library cannot be preloaded, ld.so prints one line on stderr and runs the program without it, that is without a
 * cache. Therefore this process loads the library first, as the program's loader will do. That is safe, because the
 * library does nothing until a compiler is used. Errors: reported on stderr. Threads: one.
 */
#ifndef CLI_LIBRARY_H
#define CLI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LIBRARY_NAME "libnvrtccache.so"

/*
 * Returns the absolute path of the library, which the caller frees: NVRTCCACHE_LIBRARY if that is set, otherwise the
 * installed library. Returns NULL if there is none.
 */
char *library_find(void);
/*
 * Finds the copies of the library that were preloaded into this process by LD_PRELOAD or /etc/ld.so.preload; programs
 * that it starts inherit them. The copies are in load order, and the first one is active (docs/COMPATIBILITY.md).
 * Returns their number, `capacity` at most.
 */
struct library_copy {
	const char *path, *version; /* "libnvrtccache 0.1.0"; both live as long as the process */
};
size_t library_preloaded(struct library_copy ret_copies[], size_t capacity);

/*
 * Loads the library at a path that library_find() returned into this process. Returns false and what is wrong if it is
 * NULL, cannot be loaded or preloaded, or is another library.
 */
#define LIBRARY_FAULT_BYTES 4400
bool library_loads(const char *path, char ret_fault[LIBRARY_FAULT_BYTES]);

/*
 * Puts the library first in LD_PRELOAD in the environment of this process, spelled so that other C libraries ignore it:
 * programs may start programs of any kind. Changes nothing if a copy is preloaded
 * already. Returns false after a message if no library can be preloaded or memory runs out.
 */
bool library_preload(void);
/* The same with the library at this path, whatever is preloaded already. */
bool library_preload_file(const char *path);
/* Removes every copy from LD_PRELOAD and leaves the other libraries in order. Returns false if memory runs out. */
bool library_leave(void);

/* Creates a directory for files of a run in TMPDIR, or in /tmp. Returns 0 or a negative errno value. */
int library_place(const char *verb, char *ret_place, size_t size);
/*
 * Runs a program as a shell would, with this process's environment, to its end. SIGINT, SIGQUIT, SIGTERM and SIGHUP
 * that another process sends are sent on to it, and ^C is left to it, as system() does. The exit status is that which a
 * shell reports. Returns 0 or an errno value.
 */
int library_execute(char **argv, pid_t *ret_pid, int *ret_status);

#endif
