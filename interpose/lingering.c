/* SPDX-License-Identifier: MIT */
#include "interpose/lingering.h"

#include "interpose/nvrtc_versions.h"

#include <string.h>

/* No compile can ask for these itself. */
#define LINGERS_OTHER 0x100
#define LINGERS_SPLIT 0x200

/* Any string that looks like it: what NVRTC takes for a macro's text may be in here, which costs a result at worst. */
static uint32_t bits_of(const char *option)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} lingering[] = {
	    {"restrict", LINGERS_RESTRICT},          {"opt-info", LINGERS_OPT_INFO},
	    {"optimization-info", LINGERS_OPT_INFO}, {"fdevice-time-trace", LINGERS_OTHER},
	    {"split-compile", LINGERS_SPLIT},
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

/* Of those that a process was given, the ones that this release goes on obeying. */
static uint32_t lasting(const struct library *library, uint32_t bits)
{
	if (!nvrtc_differs(DIFFERENCE_LINGERS, library->major, library->minor)) {
		bits &= LINGERS_SPLIT;
	}
	if (!nvrtc_differs(DIFFERENCE_SPLIT_LINGERS, library->major, library->minor)) {
		bits &= ~(uint32_t)LINGERS_SPLIT;
	}
	return bits;
}

/* The release need not be known yet. */
void lingering_note(struct library *library, int option_count, const char *const *options)
{
	uint32_t bits = 0;

	for (int i = 0; options && i < option_count; i++) {
		bits |= options[i] ? bits_of(options[i]) : 0;
	}
	if (bits) {
		atomic_fetch_or(&library->lingering, bits);
	}
}

bool lingering_spoils(const struct library *library, const struct options *options)
{
	return (lasting(library, atomic_load(&library->lingering)) & ~options->lingers) != 0;
}
