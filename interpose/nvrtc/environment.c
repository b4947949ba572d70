/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/environment.h"

static const struct variable variables[] = {NVRTC_VARIABLES(ENVIRONMENT_VARIABLE)};

struct environment nvrtc_environment = ENVIRONMENT_OF(NVRTC_VARIABLES, variables);
