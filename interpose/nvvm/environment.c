/* SPDX-License-Identifier: MIT */
#include "interpose/nvvm/environment.h"

static const struct variable variables[] = {NVVM_VARIABLES(ENVIRONMENT_VARIABLE)};

struct environment nvvm_environment = ENVIRONMENT_OF(NVVM_VARIABLES, variables);
