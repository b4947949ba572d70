/* SPDX-License-Identifier: MIT */
#include "cli/console/interrupt.h"

#include "cli/console/terminal.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static volatile sig_atomic_t holding;
static volatile sig_atomic_t seen;
static bool watched;

/* In a handler the signal waits until that returns. */
static void end_by(int number)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	terminal_wipe();
	(void)sigaction(number, &action, NULL);
	(void)raise(number);
}

static void note(int number)
{
	if (holding && seen == 0) {
		seen = number;
	} else {
		end_by(number);
	}
}

void interrupt_watch(void)
{
	struct sigaction action = {.sa_handler = note};
	struct sigaction before;

	if (watched) {
		return;
	}
	watched = true;
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < NUMBERS; i++) {
		(void)sigaddset(&action.sa_mask, numbers[i]);
	}
	for (size_t i = 0; i < NUMBERS; i++) {
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
			(void)sigaction(numbers[i], &action, NULL);
		}
	}
}

void interrupt_hold(void)
{
	holding = 1;
	interrupt_watch();
}

int interrupt_seen(void)
{
	return seen;
}

void interrupt_release(void)
{
	int number = seen;

	holding = 0;
	if (number != 0) {
		(void)fflush(stdout);
		end_by(number);
	}
}
