/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/options.h"

#include "interpose/compile/ptxas_options.h"

#include <string.h>

enum form { FORM_FLAG, FORM_VALUE };

/*
 * Flags of one option, used only in this file. SPEAKS: ptxas adds to the log. NO_CACHE: the driver's cache is not used
 * (from 12.5 on).
 */
enum { SPEAKS = 0x100, NO_CACHE = 0x200 };

/*
 * X(name, form, what): options without an effect on later links, measured on 12.0, 12.4, 12.9, 13.0 and 13.5. With
 * -split-compile-extended, and from 13.5 on with -g and -Ofc, the output has other bytes from link to link.
 */
#define CLEARED(X)                                                    \
	X("-arch", FORM_VALUE, 0)                                     \
	X("-lto", FORM_FLAG, LINK_OPTIONS_LTO)                        \
	X("-ptx", FORM_FLAG, LINK_OPTIONS_PTX)                        \
	X("-O", FORM_FLAG, 0)                                         \
	X("-O0", FORM_FLAG, 0)                                        \
	X("-O1", FORM_FLAG, 0)                                        \
	X("-O2", FORM_FLAG, 0)                                        \
	X("-O3", FORM_FLAG, 0)                                        \
	X("-g", FORM_FLAG, LINK_OPTIONS_VARIES)                       \
	X("-lineinfo", FORM_FLAG, 0)                                  \
	X("-ftz", FORM_VALUE, 0)                                      \
	X("-prec-div", FORM_VALUE, 0)                                 \
	X("-prec-sqrt", FORM_VALUE, 0)                                \
	X("-fma", FORM_VALUE, 0)                                      \
	X("-maxrregcount", FORM_VALUE, 0)                             \
	X("-kernels-used", FORM_VALUE, 0)                             \
	X("-variables-used", FORM_VALUE, 0)                           \
	X("-optimize-unused-variables", FORM_FLAG, 0)                 \
	X("-split-compile", FORM_VALUE, 0)                            \
	X("-split-compile-extended", FORM_VALUE, LINK_OPTIONS_VARIES) \
	X("-jump-table-density", FORM_VALUE, 0)                       \
	X("-no-cache", FORM_FLAG, NO_CACHE)                           \
	X("-Ofc", FORM_VALUE, LINK_OPTIONS_VARIES)                    \
	X("-r", FORM_FLAG, 0)                                         \
	X("-nvvm-latest", FORM_FLAG, 0)                               \
	X("-verbose", FORM_FLAG, LINK_OPTIONS_LOGS)                   \
	X("-time", FORM_FLAG, LINK_OPTIONS_LOGS)

static unsigned read_one(const char *option)
{
	static const struct {
		const char *name;
		enum form form;
		unsigned what;
	} cleared[] = {
#define CLEARED_ROW(name, form, what) {name, form, what},
	    CLEARED(CLEARED_ROW)
#undef CLEARED_ROW
	};
	size_t size = strcspn(option, "=");
	enum form form = option[size] == '=' ? FORM_VALUE : FORM_FLAG;

	if (strncmp(option, "-Xptxas=", strlen("-Xptxas=")) == 0) {
		const char *value = option + strlen("-Xptxas=");

		return !ptxas_options_cleared(value)                   ? LINK_OPTIONS_UNCLEARED
		       : strstr(value, "-v") || strstr(value, "-warn") ? SPEAKS
		                                                       : 0;
	}
	for (size_t i = 0; i < sizeof(cleared) / sizeof(cleared[0]); i++) {
		if (form == cleared[i].form && strlen(cleared[i].name) == size &&
		    memcmp(option, cleared[i].name, size) == 0) {
			return cleared[i].what;
		}
	}
	return LINK_OPTIONS_UNCLEARED;
}

unsigned link_options_read(const struct call *call)
{
	unsigned what = 0;

	for (int i = 0; i < call->option_count; i++) {
		what |= read_one(call->options[i]);
	}
	if ((what & (SPEAKS | NO_CACHE)) == SPEAKS) {
		what |= LINK_OPTIONS_LOGS;
	}
	return what & ~(unsigned)(SPEAKS | NO_CACHE);
}
