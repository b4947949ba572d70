/* SPDX-License-Identifier: MIT */
#include "complaints.h"
#include "texts.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int caught = -1, real = -1;

void complaints_begin(void)
{
	if (caught < 0) {
		caught = (int)syscall(SYS_memfd_create, "complaints", 1U /* MFD_CLOEXEC */);
		real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	}
	if (caught >= 0 && real >= 0) {
		dup2(caught, STDERR_FILENO);
	}
}

void complaints_end(void)
{
	char text[4096];
	ssize_t size;

	if (caught < 0 || real < 0) {
		return;
	}
	dup2(real, STDERR_FILENO);
	size = pread(caught, text, sizeof(text), 0);
	if (size > 0) {
		printf("  on stderr: ");
		text_print(text, text_normalise(text, (size_t)size));
		(void)!ftruncate(caught, 0);
		lseek(caught, 0, SEEK_SET);
	}
}
