/* SPDX-License-Identifier: MIT */
/*
 * name: makes the name of a value in each kind of engine
 *
 * Every name contains the version of the naming, the format of the entry and the prefix, so values of old and new
 * formats never have the same name.
 *     Redis     <prefix>:2:<format>:<64 hex>
 *     paths     <prefix>/2-<format>/ab/<62 hex>
 *     digests   BLAKE2b-256 of the Redis name, for engines whose names are digests (bazel's ac/)
 * Errors: none: engine_address_prefix() allows only prefixes that fit.
 */
#ifndef AGENT_ENGINE_NAME_H
#define AGENT_ENGINE_NAME_H

#include "agent/engine/engine.h"

#define ENGINE_NAME_DIGEST 32

/* Returns the length of the name. */
size_t engine_name_redis(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);
void engine_name_path(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);
void engine_name_digest(const char *prefix, const struct engine_name *name, uint8_t ret_digest[ENGINE_NAME_DIGEST]);
/* Writes ac/<64 hex of the digest>. */
void engine_name_bazel(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);

#endif
