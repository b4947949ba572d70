/* SPDX-License-Identifier: MIT */
/*
 * http_status: what a status of HTTP comes to
 *
 * Threads: no state.
 */
#ifndef AGENT_ENGINE_HTTP_STATUS_H
#define AGENT_ENGINE_HTTP_STATUS_H

#include "agent/engine/engine.h"

#include <stdbool.h>

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_PUT,
};

/* The dialect tells what a status means where the number alone does not. */
enum http_dialect {
	HTTP_PLAIN,
	HTTP_BAZEL,
	HTTP_S3,
};

/* `ret_words`: what would be right, or NULL: the number says enough. */
enum engine_answer http_status_answer(long status, enum http_method method, enum http_dialect dialect,
                                      const char **ret_words);

/* <Code>...</Code> of what S3 says about an error: letters alone, else "". */
void http_status_code_of_s3(const char *body, size_t size, char ret_code[48]);

#endif
