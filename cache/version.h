/* SPDX-License-Identifier: MIT */
/* version: the version of libnvrtccache, defined only here */
#ifndef CACHE_VERSION_H
#define CACHE_VERSION_H

#define NVRTCCACHE_VERSION "0.1.0"

#endif
