/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/options.h"

#include "interpose/compile/ptxas_options.h"

#include <string.h>

/*
 * Flags of one option, used only in this file. SPEAKS: ptxas adds to the log. NO_CACHE: the driver's cache is not used
 * (from 12.5 on).
 */
enum { SPEAKS = 0x100, NO_CACHE = 0x200 };

/*
 * Options without an effect on later links, measured on 12.0, 12.4, 12.9, 13.0 and 13.5. With -split-compile-extended,
 * and from 13.5 on with -g and -Ofc, the output has other bytes from link to link; with -O0 (12.3 to 13.5), the order
 * of variables changes with the addresses of a process.
 */
static const struct compiler_option cleared[] = {
    {"-arch=", 0},
    {"-O", 0},
    {"-O0", LINK_OPTIONS_VARIES},
    {"-O1", 0},
    {"-O2", 0},
    {"-O3", 0},
    {"-lineinfo", 0},
    {"-ftz=", 0},
    {"-prec-div=", 0},
    {"-prec-sqrt=", 0},
    {"-fma=", 0},
    {"-maxrregcount=", 0},
    {"-kernels-used=", 0},
    {"-variables-used=", 0},
    {"-optimize-unused-variables", 0},
    {"-split-compile=", 0},
    {"-jump-table-density=", 0},
    {"-r", 0},
    {"-nvvm-latest", 0},
    {"-lto", LINK_OPTIONS_LTO},
    {"-ptx", LINK_OPTIONS_PTX},
    {"-g", LINK_OPTIONS_VARIES},
    {"-split-compile-extended=", LINK_OPTIONS_VARIES},
    {"-Ofc=", LINK_OPTIONS_VARIES},
    {"-no-cache", NO_CACHE},
    {"-verbose", LINK_OPTIONS_LOGS},
    {"-time", LINK_OPTIONS_LOGS},
};

static unsigned read_one(const char *option)
{
	static const char ptxas[] = "-Xptxas=";
	const char *value = option + sizeof(ptxas) - 1;

	if (strncmp(option, ptxas, sizeof(ptxas) - 1) != 0) {
		return compiler_option_what(cleared, sizeof(cleared) / sizeof(cleared[0]), option,
		                            LINK_OPTIONS_UNCLEARED);
	}
	return !ptxas_options_cleared(value)                   ? LINK_OPTIONS_UNCLEARED
	       : strstr(value, "-v") || strstr(value, "-warn") ? SPEAKS
	                                                       : 0;
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
