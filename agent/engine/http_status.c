/* SPDX-License-Identifier: MIT */
/* A table maps each status to an answer. Frequent ones also have advice for the operator. */
#include "agent/engine/http_status.h"

#include <stdio.h>
#include <string.h>

enum { ANY = ~0, GET = 1 << HTTP_GET, PUT = 1 << HTTP_PUT };
enum { BAZEL = 1 << HTTP_BAZEL, S3 = 1 << HTTP_S3 };

/*
 * The first row that fits counts. For GET only 200 is a success, because the body of a 203 or 206 may differ from the
 * stored value.
 */
static const struct status {
	long first;
	long last;
	int methods;
	int dialects;
	enum engine_answer answer;
	const char *words;
} statuses[] = {
    {200, 200, ANY, ANY, ENGINE_DONE, NULL},
    {200, 299, PUT, ANY, ENGINE_DONE, NULL},
    {404, 404, PUT, S3, ENGINE_UNSUITED, "no such bucket"},
    {404, 404, GET, ANY, ENGINE_ABSENT, NULL},
    {410, 410, GET, ANY, ENGINE_ABSENT, NULL},
    {401, 401, ANY, ANY, ENGINE_REFUSED, "authentication required: --user with --password-file, or --token-file"},
    {403, 403, ANY, S3, ENGINE_REFUSED, "S3 also answers this for absent objects, unless s3:ListBucket is allowed"},
    {403, 403, ANY, ANY, ENGINE_REFUSED, "permission denied"},
    {407, 407, ANY, ANY, ENGINE_REFUSED, "a proxy requires authentication"},
    {413, 413, ANY, ANY, ENGINE_TOO_LARGE, "the value is larger than the server accepts (nginx: client_max_body_size)"},
    {507, 507, ANY, ANY, ENGINE_FULL, "no space left"},
    {408, 408, ANY, ANY, ENGINE_BROKEN, NULL},
    {429, 429, ANY, ANY, ENGINE_BROKEN, "too many requests"},
    {500, 500, PUT, ~S3, ENGINE_BROKEN, "nginx needs create_full_put_path on, and permission to write"},
    {501, 501, PUT, ANY, ENGINE_BROKEN, "the server does not accept PUT: nginx needs dav_methods PUT"},
    {500, 599, ANY, ANY, ENGINE_BROKEN, NULL},
    {300, 399, ANY, ANY, ENGINE_UNSUITED, "redirects are not followed: use the address that the server redirects to"},
    {400, 400, ANY, BAZEL, ENGINE_UNSUITED, "bazel-remote needs --disable_http_ac_validation"},
    {405, 405, PUT, ANY, ENGINE_UNSUITED, "the server does not accept PUT: nginx needs dav_methods PUT"},
    {409, 409, PUT, ANY, ENGINE_UNSUITED, "the server does not create directories"},
};

enum engine_answer http_status_answer(long status, enum http_method method, enum http_dialect dialect,
                                      const char **ret_words)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		const struct status *row = &statuses[i];

		if (status >= row->first && status <= row->last && (row->methods & 1 << method) &&
		    (row->dialects & 1 << dialect)) {
			*ret_words = row->words;
			return row->answer;
		}
	}
	*ret_words = NULL;
	return ENGINE_UNSUITED;
}

/* Searches for the element without an XML parser. */
void http_status_code_of_s3(const char *body, size_t size, char ret_code[48])
{
	static const char opening[] = "<Code>";
	const char *at = size > 0 ? memmem(body, size, opening, sizeof(opening) - 1) : NULL;
	char text[64];
	int end = 0;

	ret_code[0] = '\0';
	if (at == NULL) {
		return;
	}
	at += sizeof(opening) - 1;
	(void)snprintf(text, sizeof(text), "%.*s", (int)(body + size - at), at);
	if (sscanf(text, "%47[A-Za-z]<%n", ret_code, &end) != 1 || end == 0) {
		ret_code[0] = '\0';
	}
}
