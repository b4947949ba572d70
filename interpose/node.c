/* SPDX-License-Identifier: MIT */
#include "interpose/node.h"

#include <ctype.h>

const char *node_name(const struct node *node, size_t function, char room[NODE_NAME_BYTES])
{
	const char *name = node->compiler->functions[function].name;

	if (!node->suffix) {
		return name;
	}
	(void)stpcpy(stpcpy(stpcpy(room, "__"), name), node->suffix);
	return room;
}

/* Returns true for a release like "_12_9". */
static bool is_release(const char *text)
{
	for (int i = 0; i < 2; i++) {
		if (*text++ != '_' || !isdigit((unsigned char)*text)) {
			return false;
		}
		while (isdigit((unsigned char)*text)) {
			text++;
		}
	}
	return *text == '\0';
}

bool node_names_release(const char *name, const char *function)
{
	size_t size = strlen(function);

	return strncmp(name, "__", 2) == 0 && strncmp(name + 2, function, size) == 0 && is_release(name + 2 + size);
}
