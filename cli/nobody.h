/* SPDX-License-Identifier: MIT */
/* nobody: results without the stamps of the node that they come from, which mean nothing on another */
#ifndef CLI_NOBODY_H
#define CLI_NOBODY_H

#include "cache/entry.h"

/* A copy with the stamps of nobody; -ENOMEM. The caller has one reference. */
int nobody_entry(const struct entry *entry, struct entry **ret_entry);

#endif
