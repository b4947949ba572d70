/* SPDX-License-Identifier: MIT */
/* show_json: results as `show --json` prints them: an array, the newest first; what is not known is null */
#ifndef CLI_SHOW_JSON_H
#define CLI_SHOW_JSON_H

#include "cli/shown.h"

void show_json(const struct shown_list *list);

#endif
