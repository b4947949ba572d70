/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/sticky.h"

#include "interpose/nvrtc/types.h"
#include "interpose/nvrtc/versions.h"

/* Compiles with two different sets of options that are not cleared. */
#define UNCLEARED_SEVERAL UINT64_MAX

/* Of those that a process was given, the ones that this release goes on obeying. */
static uint32_t lasting(const struct library *library, uint32_t bits)
{
	if (!nvrtc_differs(DIFFERENCE_LINGERS, library->major, library->minor)) {
		bits &= ~(uint32_t)(LINGERS_RESTRICT | LINGERS_OPT_INFO | LINGERS_TIME_TRACE);
	}
	if (!nvrtc_differs(DIFFERENCE_SPLIT_LINGERS, library->major, library->minor)) {
		bits &= ~(uint32_t)LINGERS_SPLIT;
	}
	return bits;
}

static void note_uncleared(struct library *library, uint64_t uncleared)
{
	uint64_t earlier = 0;

	if (!atomic_compare_exchange_strong(&library->uncleared, &earlier, uncleared) && earlier != uncleared) {
		atomic_store(&library->uncleared, UNCLEARED_SEVERAL);
	}
}

/* The release need not be known yet. */
void lingering_begin(struct library *library, int option_count, const char *const *options,
                     struct lingering *ret_lingering)
{
	struct options read = {0};

	if (option_count > 0 && options && options_read(options, option_count, &read) != 0) {
		read.uncleared = UNCLEARED_SEVERAL;
	}
	*ret_lingering = (struct lingering){library, read.uncleared};
	if (read.lingers) {
		atomic_fetch_or(&library->lingering, read.lingers);
	}
	if (read.uncleared) {
		atomic_fetch_add(&library->uncleared_running, 1);
	}
	options_free(&read);
}

void lingering_end(const struct lingering *lingering, int result)
{
	if (lingering->uncleared) {
		if (result != RESULT_INVALID_OPTION) {
			note_uncleared(lingering->library, lingering->uncleared);
		}
		atomic_fetch_sub(&lingering->library->uncleared_running, 1);
	}
}

/* What a library that is told to split compiles makes afterwards hangs on more than whether it was told so. */
bool lingering_spoils(const struct library *library, const struct options *options)
{
	uint32_t asked = options->lingers & ~(uint32_t)LINGERS_SPLIT;

	return (lasting(library, atomic_load(&library->lingering)) & ~asked) != 0;
}

bool lingering_may_spoil(const struct library *library, const struct options *options)
{
	uint64_t uncleared = atomic_load(&library->uncleared);

	return atomic_load(&library->uncleared_running) != 0 || (uncleared != 0 && uncleared != options->uncleared) ||
	       uncleared == UNCLEARED_SEVERAL;
}
