/* SPDX-License-Identifier: MIT */
#include "interpose/compile/ptxas_options.h"

#include <stddef.h>
#include <string.h>

/* Options of ptxas that have no effect on later compilations, whatever their values are. */
#define PTXAS_CLEARED                                                                                               \
	"-v", "--verbose", "-w", "--disable-warnings", "-O0", "-O1", "-O2", "-O3", "--opt-level", "-dlcm", "-dscm", \
	    "--def-load-cache", "--def-store-cache", "-flcm", "-fscm", "--force-load-cache", "--force-store-cache", \
	    "--warn-on-spills", "-warn-spills", "--warn-on-local-memory-usage", "-warn-lmem-usage",                 \
	    "--warn-on-double-precision-use", "-warn-double-usage", "--warning-as-error", "-Werror", "--fmad",      \
	    "-fmad", "--maxrregcount", "-maxrregcount", "--register-usage-level", "-regUsageLevel",                 \
	    "--allow-expensive-optimizations", "-allow-expensive-optimizations", "--optimize-float-atomics",        \
	    "-opt-fp-atomics", "--suppress-stack-size-warning", "-suppress-stack-size-warning",                     \
	    "--generate-line-info", "-lineinfo", "--device-debug", "-g", "--preserve-relocs", "-preserve-relocs",   \
	    "--return-at-end", "-ret-end", "--position-independent-code", "-pic", "--disable-optimizer-constants",  \
	    "-disable-optimizer-consts", "--extensible-whole-program", "-ewp", "--split-compile", "-split-compile", \
	    "--Ofast-compile", "-Ofc", "--version", "-V", "--help", "-h"

static bool is_cleared(const char *name, size_t size)
{
	static const char *const cleared[] = {PTXAS_CLEARED};

	for (size_t i = 0; i < sizeof(cleared) / sizeof(cleared[0]); i++) {
		if (strlen(cleared[i]) == size && memcmp(cleared[i], name, size) == 0) {
			return true;
		}
	}
	return false;
}

bool ptxas_options_cleared(const char *value)
{
	for (;;) {
		size_t size = strcspn(value, ",");

		if (!is_cleared(value, strcspn(value, "=,"))) {
			return false;
		}
		if (value[size] == '\0') {
			return true;
		}
		value += size + 1;
	}
}
