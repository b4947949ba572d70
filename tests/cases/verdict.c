/* SPDX-License-Identifier: MIT */
/*
 * verdict: what the library thinks of a compile in a process that has been through others, for scripts/sticky
 *
 * usage: verdict RELEASE OPTION... :: OPTION... :: ...     the last list is the compile, the others came before it
 *
 * Prints "clear" (its result is kept), "lingers" or "uncleared" (it is not, and why). RELEASE: 1300 for 13.0.
 */
#include "interpose/compile/handle.h"
#include "interpose/nvrtc/nodes.h"
#include "interpose/nvrtc/sticky.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
	static struct library library = {.compiler = &nvrtc_compiler};
	struct lasting lasting;
	struct options options;
	enum counter reason;
	int begin = 2;

	if (count < 3) {
		fputs("usage: verdict RELEASE OPTION... :: OPTION...\n", stderr);
		return 2;
	}
	library.major = atoi(words[1]) / 100;
	library.minor = atoi(words[1]) % 100;
	for (int i = 2; i <= count; i++) {
		if (i < count && strcmp(words[i], "::") != 0) {
			continue;
		}
		lasting = lasting_begin(&library, &(struct call){i - begin, (const char *const *)words + begin, 0});
		lasting_end(&library, &lasting, 0);
		if (i == count && options_read((const char *const *)words + begin, i - begin, &options) != 0) {
			return 2;
		}
		begin = i + 1;
	}
	reason = sticky_spoils(&library, &options);
	puts(reason == COUNTER_BYPASSED_sticky_options ? "lingers" : reason ? "uncleared" : "clear");
	options_free(&options);
	return 0;
}
