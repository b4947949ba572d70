/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/environment.h"

static const struct variable variables[] = {NVJITLINK_VARIABLES(ENVIRONMENT_VARIABLE)};

struct environment nvjitlink_environment = ENVIRONMENT_OF(NVJITLINK_VARIABLES, variables);
