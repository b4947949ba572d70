/* SPDX-License-Identifier: MIT */
/* explain_json: an explanation as `explain --json` prints it: an object; what is not known is null */
#ifndef CLI_EXPLAIN_JSON_H
#define CLI_EXPLAIN_JSON_H

#include "cli/explanation.h"

void explain_json(const struct explanation *explanation);

#endif
