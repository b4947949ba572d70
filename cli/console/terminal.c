/* SPDX-License-Identifier: MIT */
#include "cli/console/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_MAX_BYTES  512
#define COLUMNS_DEFAULT 80

static volatile sig_atomic_t shown;   /* columns of the line that is there; 0: none */
static volatile sig_atomic_t escapes; /* does the terminal know them? */

static void put(const char *bytes, size_t size)
{
	ssize_t done = write(STDERR_FILENO, bytes, size);

	(void)done; /* a line that is not shown is no error */
}

static enum terminal_kind kind_of_stderr(void)
{
	const char *term = getenv("TERM");
	const char *colour = getenv("NO_COLOR");

	if (isatty(STDERR_FILENO) != 1) {
		return TERMINAL_NONE;
	}
	return term == NULL || *term == '\0' || strcmp(term, "dumb") == 0 || (colour != NULL && *colour != '\0')
	           ? TERMINAL_PLAIN
	           : TERMINAL_FULL;
}

enum terminal_kind terminal_kind(void)
{
	enum terminal_kind kind = kind_of_stderr();
	pid_t front;

	if (kind == TERMINAL_NONE) {
		return kind;
	}
	front =
	    tcgetpgrp(STDERR_FILENO); /* fails where it is not the terminal of this session: then nobody else has it */
	escapes = kind == TERMINAL_FULL;
	return front < 0 || front == getpgrp() ? kind : TERMINAL_NONE;
}

unsigned terminal_columns(void)
{
	struct winsize size = {0};

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : COLUMNS_DEFAULT;
}

void terminal_show(const char *line)
{
	size_t length = strnlen(line, LINE_MAX_BYTES);
	size_t before = (size_t)shown;
	char bytes[2 * LINE_MAX_BYTES + 8];
	size_t size = 0;

	bytes[size++] = '\r';
	memcpy(bytes + size, line, length);
	size += length;
	if (escapes) {
		memcpy(bytes + size, "\x1b[K", 3);
		size += 3;
	} else if (before > length) {
		memset(bytes + size, ' ', before - length);
		size += before - length;
	}
	shown = (sig_atomic_t)length;
	put(bytes, size);
}

void terminal_wipe(void)
{
	char blanks[LINE_MAX_BYTES + 2];
	size_t before = (size_t)shown;
	int saved = errno;

	if (before == 0) {
		return;
	}
	if (escapes) {
		put("\r\x1b[K", 4);
	} else {
		blanks[0] = '\r';
		memset(blanks + 1, ' ', before);
		blanks[before + 1] = '\r';
		put(blanks, before + 2);
	}
	shown = 0;
	errno = saved;
}
