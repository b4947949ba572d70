/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/sticky.h"

#include "interpose/compile/handle.h"
#include "interpose/nvrtc/versions.h"

struct lasting sticky_options(const struct call *call)
{
	struct lasting lasting = {.uncleared = UINT64_MAX};
	struct options read;

	if (options_read(call->options, call->options ? call->option_count : 0, &read) == 0) {
		lasting = (struct lasting){read.effects & OPTION_STICKY, read.uncleared};
		options_free(&read);
	}
	return lasting;
}

/* SPLIT always spoils: after it, results depend on more than whether they have it too. */
enum counter sticky_spoils(const struct library *library, const struct options *options)
{
	uint32_t spoiling = OPTION_STICKY & ~(options->effects & ~(uint32_t)OPTION_SPLIT);

	if (!nvrtc_differs(DIFFERENCE_STICKY, library->major, library->minor)) {
		spoiling &= ~(uint32_t)(OPTION_RESTRICT | OPTION_OPT_INFO | OPTION_TIME_TRACE);
	}
	if (!nvrtc_differs(DIFFERENCE_SPLIT_STICKY, library->major, library->minor)) {
		spoiling &= ~(uint32_t)OPTION_SPLIT;
	}
	return lasting_spoils(library, spoiling, options->uncleared);
}
