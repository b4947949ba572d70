/* SPDX-License-Identifier: MIT */
/*
 * name: what a value is called in each kind of engine
 *
 * Version of the naming, format of the entry and prefix are part of every name, so old and new formats never meet.
 *     Redis     <prefix>:2:<format>:<64 hex>
 *     paths     <prefix>/2-<format>/ab/<62 hex>
 *     digests   BLAKE2b-256 of all of it, where a name is so many bytes and nothing else (bazel's ac/)
 * Threads: no state. Errors: none; the prefix is one that engine_address_prefix() allows, so all of it has room.
 */
#ifndef AGENT_ENGINE_NAME_H
#define AGENT_ENGINE_NAME_H

#include "agent/engine/engine.h"

#define ENGINE_NAME_DIGEST 32

/* How many bytes it has is given back. */
size_t engine_name_redis(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);
void engine_name_path(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);
void engine_name_digest(const char *prefix, const struct engine_name *name, uint8_t ret_digest[ENGINE_NAME_DIGEST]);
/* ac/<64 hex of the digest> */
void engine_name_bazel(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);

#endif
