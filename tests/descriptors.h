/* SPDX-License-Identifier: MIT */
/* descriptors: how many this process has open, by /proc. Counts are for comparing: each has the one it reads with. */
#ifndef TESTS_DESCRIPTORS_H
#define TESTS_DESCRIPTORS_H

#include <dirent.h>

/* 0: not to be had. */
static inline int descriptors_open(void)
{
	DIR *names = opendir("/proc/self/fd");
	int count = 0;

	while (names && readdir(names)) {
		count++;
	}
	if (names) {
		closedir(names);
	}
	return count;
}

#endif
