/* SPDX-License-Identifier: MIT */
#include "cli/nobody.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nobody_entry(const struct entry *entry, struct entry **ret_entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);
	void *neutral = malloc(size + 1);
	int error;

	if (neutral == NULL) {
		return -ENOMEM;
	}
	memcpy(neutral, conditions, size);
	conditions_forget(neutral, size);
	error = entry_amend(entry, neutral, size, ret_entry);
	free(neutral);
	return error;
}
