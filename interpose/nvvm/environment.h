/* SPDX-License-Identifier: MIT */
/*
 * environment: the variables that libNVVM reads (interpose/watch/environment.h says what becomes of them)
 */
#ifndef INTERPOSE_NVVM_ENVIRONMENT_H
#define INTERPOSE_NVVM_ENVIRONMENT_H

#include "interpose/watch/environment.h"

extern struct environment nvvm_environment;

#endif
