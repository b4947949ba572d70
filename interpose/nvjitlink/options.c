/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/options.h"

#include "interpose/compile/ptxas_options.h"

#include <string.h>

enum form { FORM_FLAG, FORM_VALUE };

/*
 * X(name, form, what): measured on 12.0, 12.4, 12.9, 13.0 and 13.5. -split-compile-extended, and from 13.5 on -g and
 * -Ofc, give other bytes from link to link.
 */
#define CLEARED(X)                                                    \
	X("-arch", FORM_VALUE, 0)                                     \
	X("-lto", FORM_FLAG, LINK_OPTIONS_LTO)                        \
	X("-ptx", FORM_FLAG, 0)                                       \
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
	X("-no-cache", FORM_FLAG, 0)                                  \
	X("-Ofc", FORM_VALUE, LINK_OPTIONS_VARIES)                    \
	X("-r", FORM_FLAG, 0)                                         \
	X("-nvvm-latest", FORM_FLAG, 0)                               \
	X("-verbose", FORM_FLAG, 0)                                   \
	X("-time", FORM_FLAG, LINK_OPTIONS_TIMED)

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
		return ptxas_options_cleared(option + strlen("-Xptxas=")) ? 0 : LINK_OPTIONS_UNCLEARED;
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
	return what;
}
