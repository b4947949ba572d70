/* SPDX-License-Identifier: MIT */
/*
 * versions: the differences between releases of NVRTC (functions.h lists which functions each release has)
 *
 * X(name, since, before, sentence): true for releases from `since` on that are older than `before`; major * 100 +
 * minor; 0 and 9999: no limit is known. Measured on 11.2, 11.5, 11.7, 11.8, 12.0 to 12.6, 12.8, 12.9 and 13.0 to 13.5:
 * tests/cases/versions.py asks real libraries for every line (`scripts/matrix build all`).
 */
#ifndef INTERPOSE_NVRTC_VERSIONS_H
#define INTERPOSE_NVRTC_VERSIONS_H

#include <stdbool.h>

#define NVRTC_DIFFERENCES(X)                                                                                      \
	X(NULL_EXPRESSION_CRASHES, 0, 1202, "a null name expression crashes, added or asked for")                 \
	X(NUMBERS_CALLS, 0, 1208, "the numbers of calls in comments of PTX go on counting through the process")   \
	X(SETS_LOCALE, 0, 1206, "imports setlocale: a compile may set the locale of the process and set it back") \
	X(ASKS_LOCALE, 0, 1105, "the locale of the process says which bytes are letters, in names of the source") \
	X(STICKY, 1203, 9999, "-restrict and -opt-info hold for every later compile of the process")              \
	X(SPLIT_STICKY, 1200, 1201, "-split-compile changes what every later compile of the process makes")       \
	X(MAKES_PCH, 1208, 9999, "--pch makes and uses precompiled headers")                                      \
	X(PCH_IN_CWD, 1208, 1300, "the automatic precompiled header is a file in the working directory")          \
	X(OWN_CACHE, 1209, 9999, "keeps what NVVM and ptxas make in a cache of the driver's; --no-cache")         \
	X(OPTIX_SPELLS_PATHS, 1200, 1302, "OptiX IR names the working directory without -lineinfo and -G")        \
	X(SPELLS_CWD, 1301, 9999, "opens relative headers with the working directory in front")                   \
	X(DECODES_IN_ORDER, 1102, 1306, "__nvrtcCPEx: a callback is given each text once, as decoder.h says")

enum nvrtc_difference {
#define DIFFERENCE_ENUM(name, since, before, sentence) DIFFERENCE_##name,
	NVRTC_DIFFERENCES(DIFFERENCE_ENUM)
#undef DIFFERENCE_ENUM
};

static inline bool nvrtc_differs(enum nvrtc_difference difference, int major, int minor)
{
	static const struct {
		int since, before;
	} releases[] = {
#define DIFFERENCE_RELEASES(name, since, before, sentence) {since, before},
	    NVRTC_DIFFERENCES(DIFFERENCE_RELEASES)
#undef DIFFERENCE_RELEASES
	};
	int release = major * 100 + minor;

	return release >= releases[difference].since && release < releases[difference].before;
}

#endif
