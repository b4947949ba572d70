/* SPDX-License-Identifier: MIT */
/* http_status: maps HTTP status codes to answers, with advice for the operator. Threads: no state. Errors: none. */
#ifndef AGENT_ENGINE_HTTP_STATUS_H
#define AGENT_ENGINE_HTTP_STATUS_H

#include "agent/engine/engine.h"

enum http_method { HTTP_GET, HTTP_PUT };

/* The kind of server, on which the meaning of some status codes depends. */
enum http_dialect { HTTP_PLAIN, HTTP_BAZEL, HTTP_S3 };

/* Returns the answer for a status. *ret_words is constant advice for the operator, or NULL if there is none. */
enum engine_answer http_status_answer(long status, enum http_method method, enum http_dialect dialect,
                                      const char **ret_words);

/* Copies the text of <Code>...</Code> from an error response of S3; "" if it is not only letters. */
void http_status_code_of_s3(const char *body, size_t size, char ret_code[48]);

#endif
