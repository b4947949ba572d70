/* SPDX-License-Identifier: MIT */
#include "keygen/roots.h"

#include <stdlib.h>

const struct key *roots_arithmetic(const struct roots *roots)
{
	return roots->arithmetic ? roots->arithmetic(roots->context) : NULL;
}

void roots_free(struct roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		free(roots->root[i].text);
	}
	free(roots->root);
	*roots = (struct roots){0};
}
