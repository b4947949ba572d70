/* SPDX-License-Identifier: MIT */
/*
 * crew: threads for work on all shards, a bar while they work, and ^C that stops them
 *
 * Purpose: the chore (cache/tools/chore.h) of a command. Sixteen threads, because file systems make those wait who remove
 * files or ask for their times, and not the processor.
 *
 * Calling sequence: interrupt_hold(), crew_begin(), the store's call with &crew->chore, crew_end(). Where threads cannot
 * be started the work is done without. Threads: crew_begin() and crew_end() by the first, which alone draws.
 */
#ifndef CLI_CREW_H
#define CLI_CREW_H

#include "cache/tools/chore.h"
#include "cli/console/progress.h"

struct crew {
	struct chore chore;
	struct progress progress;
	const char *looking, *working; /* what the line begins with */
	const char *doing;             /* of these; NULL: neither yet */
};

void crew_begin(struct crew *crew, const char *looking, const char *working);
void crew_end(struct crew *crew);

#endif
