/* SPDX-License-Identifier: MIT */
/*
 * faults: every call that the library makes goes wrong, on purpose. TAP.
 *
 *     faults expect BASE FAKES                  without the library: writes down what NVRTC gives
 *     LD_PRELOAD=libnvrtccache.so faults WHAT BASE FAKES [STRIDE [PART PARTS [SCENARIO]]]
 *
 * BASE: an empty directory for it alone. FAKES: the builds of tests/fake. WHAT: sweep, memory or crowd (sweep.h).
 */
#include "tests/faults/inject.h"
#include "tests/faults/stage.h"
#include "tests/faults/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	void (*body)(const struct sweep *sweep);
} parts[] = {{"sweep", sweep_faults}, {"memory", sweep_memory}, {"crowd", sweep_crowd}};

int main(int count, char **arguments)
{
	struct sweep sweep = {.stride = 1, .part = 0, .parts = 1};
	const char *wrong;

	char fakes[4096];

	if (count < 4 || !realpath(arguments[3], fakes)) {
		fprintf(stderr, "usage: faults WHAT BASE FAKES [STRIDE [PART PARTS [SCENARIO]]]\n");
		return 2;
	}
	if (strcmp(arguments[1], "expect") == 0) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/expected", arguments[2]);
		return host_open(arguments[2], fakes) && host_write_expected(path) ? 0 : 1;
	}
	sweep.stride = count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 1;
	sweep.part = count > 6 ? (unsigned)strtoul(arguments[5], NULL, 10) : 0;
	sweep.parts = count > 6 ? (unsigned)strtoul(arguments[6], NULL, 10) : 1;
	sweep.only = count > 7 ? arguments[7] : NULL;
	wrong = inject_install();
	if (wrong) {
		stage_note("%s", wrong);
		stage_result(false, "every import of the library is known to the injector");
		return stage_plan();
	}
	if (!stage_open(arguments[2], fakes)) {
		stage_note("the stage cannot be set");
		stage_result(false, "faults %s", arguments[1]);
		return stage_plan();
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].name, arguments[1]) == 0) {
			parts[i].body(&sweep);
		}
	}
	return stage_plan();
}
