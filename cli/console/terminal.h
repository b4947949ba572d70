/* SPDX-License-Identifier: MIT */
/*
 * terminal: the one line on standard error that tells how far a command is, and goes away
 *
 * Purpose: what is drawn and wiped, and where. A line is drawn only on a terminal of which the command has the
 * foreground; without escape sequences where TERM is missing or "dumb", or NO_COLOR is set.
 *
 * Calling sequence: terminal_kind() before each line (who is sent to the background goes on in silence),
 * terminal_show(), terminal_wipe() before anything else is printed (console_error() does it). Threads: one. Signals:
 * terminal_wipe() may be called by a handler. Errors: a line that cannot be written is not shown.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

enum terminal_kind { TERMINAL_NONE, TERMINAL_PLAIN, TERMINAL_FULL };

enum terminal_kind terminal_kind(void);
/* As wide as the window is now. */
unsigned terminal_columns(void);
/* In the place of the line that is there; shorter than the window is wide. */
void terminal_show(const char *line);
void terminal_wipe(void);

#endif
