/* SPDX-License-Identifier: MIT */
/*
 * python: where a Python would look for packages, told from where it lies
 *
 * It is not run: a program that is only asked about does nothing, and a Python that starts runs what its packages say
 * (site, .pth files). So this is the usual layout: PYTHONPATH, site-packages below its prefix or its virtual environment,
 * the user's own, and Debian's dist-packages. Threads, fork, signals: no state. Ownership: the text is the caller's.
 */
#ifndef CLI_PYTHON_H
#define CLI_PYTHON_H

#include <stdbool.h>

/* Directories, each ended by a newline; NULL: no memory. `program`: the path of python3, as it was found. */
char *python_directories(const char *program);

#endif
