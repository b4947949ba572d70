/* SPDX-License-Identifier: MIT */
/*
 * The options of a call are recorded before the real compilation starts, because a compilation in another thread may
 * see their effect while this one is still running.
 */
#include "interpose/nvrtc/sticky.h"

#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/versions.h"

/* The value of `uncleared` after compilations with different sets of uncleared options. */
#define UNCLEARED_SEVERAL UINT64_MAX

/* Returns those of the given options that affect later compilations with this release. */
static uint32_t lasting_bits(const struct library *library, uint32_t bits)
{
	bits &= OPTION_STICKY;
	if (!nvrtc_differs(DIFFERENCE_STICKY, library->major, library->minor)) {
		bits &= ~(uint32_t)(OPTION_RESTRICT | OPTION_OPT_INFO | OPTION_TIME_TRACE);
	}
	if (!nvrtc_differs(DIFFERENCE_SPLIT_STICKY, library->major, library->minor)) {
		bits &= ~(uint32_t)OPTION_SPLIT;
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

/* Works before the release is known. */
uint64_t sticky_begin(struct library *library, const struct call *call)
{
	struct options read = {0};
	uint64_t uncleared;

	if (call->option_count > 0 && call->options && options_read(call->options, call->option_count, &read) != 0) {
		read.uncleared = UNCLEARED_SEVERAL;
	}
	uncleared = read.uncleared;
	atomic_fetch_or(&library->told, read.effects & OPTION_STICKY);
	if (uncleared) {
		atomic_fetch_add(&library->uncleared_running, 1);
	}
	options_free(&read);
	return uncleared;
}

void sticky_end(struct library *library, uint64_t uncleared, int result)
{
	if (uncleared) {
		if (result != RESULT_INVALID_OPTION) {
			note_uncleared(library, uncleared);
		}
		atomic_fetch_sub(&library->uncleared_running, 1);
	}
}

/*
 * SPLIT always spoils: after an option to split compilations, results depend on more than whether they have it
 * too.
 */
bool sticky_spoils(const struct library *library, const struct options *options)
{
	uint32_t asked = options->effects & ~(uint32_t)OPTION_SPLIT;

	return (lasting_bits(library, atomic_load(&library->told)) & ~asked) != 0;
}

bool sticky_may_spoil(const struct library *library, const struct options *options)
{
	uint64_t uncleared = atomic_load(&library->uncleared);

	return atomic_load(&library->uncleared_running) != 0 || (uncleared != 0 && uncleared != options->uncleared) ||
	       uncleared == UNCLEARED_SEVERAL;
}
