/* SPDX-License-Identifier: MIT */
/*
 * results_json: what a result says of itself, as JSON on standard output
 *
 * Purpose: `ls` and `show` name the same things alike. What a result does not say is null, or empty.
 */
#ifndef CLI_RESULTS_JSON_H
#define CLI_RESULTS_JSON_H

#include "cli/results.h"

/* The members of an object, without its braces: "key": ..., "bound": [...]. */
void results_json(const struct listed_result *result);

#endif
