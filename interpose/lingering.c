/* SPDX-License-Identifier: MIT */
#include "interpose/lingering.h"

#include "interpose/nvrtc_versions.h"

#include <string.h>

#define LINGERS_OTHER 0x100 /* no compile can ask for that itself */

/* Any string that looks like it: what NVRTC takes for a macro's text may be in here, which costs a result at worst. */
static uint32_t bits_of(const char *option)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} lingering[] = {
	    {"restrict", LINGERS_RESTRICT},
	    {"opt-info", LINGERS_OPT_INFO},
	    {"optimization-info", LINGERS_OPT_INFO},
	    {"fdevice-time-trace", LINGERS_OTHER},
	};
	const char *name = option + strspn(option, " \t-");
	size_t size = strcspn(name, "= ");

	for (size_t i = 0; i < sizeof(lingering) / sizeof(lingering[0]); i++) {
		if (strlen(lingering[i].name) == size && memcmp(lingering[i].name, name, size) == 0) {
			return lingering[i].bit;
		}
	}
	return 0;
}

void lingering_note(struct library *library, int option_count, const char *const *options)
{
	uint32_t bits = 0;

	/* 0: not known yet */
	if (library->major && !nvrtc_differs(DIFFERENCE_LINGERS, library->major, library->minor)) {
		return;
	}
	for (int i = 0; options && i < option_count; i++) {
		bits |= options[i] ? bits_of(options[i]) : 0;
	}
	if (bits) {
		atomic_fetch_or(&library->lingering, bits);
	}
}

bool lingering_spoils(const struct library *library, const struct options *options)
{
	return (atomic_load(&library->lingering) & ~options->lingers) != 0;
}
