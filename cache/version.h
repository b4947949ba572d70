/* SPDX-License-Identifier: MIT */
/* version: the one place that says which version this is */
#ifndef CACHE_VERSION_H
#define CACHE_VERSION_H

#define NVRTCCACHE_VERSION "0.1.0"

#endif
