/* SPDX-License-Identifier: MIT */
/* The one place that says which version this is. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#define NVRTCCACHE_VERSION "0.1.0"

#endif
