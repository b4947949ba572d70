/* SPDX-License-Identifier: MIT */
/* A table maps each status to an answer. Frequent ones also have advice for the operator. */
#include "agent/engine/http.h"

#include <string.h>

static const struct status {
	long first;
	long last;
	enum engine_answer answer;
	const char *words;
} statuses[] = {
    {404, 404, ENGINE_ABSENT, NULL},
    {410, 410, ENGINE_ABSENT, NULL},
    {401, 401, ENGINE_REFUSED, "authentication required: --user with --password-file, or --token-file"},
    {403, 403, ENGINE_REFUSED, "permission denied"},
    {407, 407, ENGINE_REFUSED, "a proxy requires authentication"},
    {413, 413, ENGINE_TOO_LARGE, "the value is larger than the server accepts (nginx: client_max_body_size)"},
    {507, 507, ENGINE_FULL, "no space left"},
    {408, 408, ENGINE_BROKEN, NULL},
    {429, 429, ENGINE_BROKEN, "too many requests"},
    {500, 599, ENGINE_BROKEN, NULL},
    {300, 399, ENGINE_UNSUITED, "redirects are not followed: use the address that the server redirects to"},
};

/* Returns advice for a status whose meaning depends on the server and the method; NULL: none. */
static const char *advice_for(long status, enum http_method method, enum http_dialect dialect)
{
	if (status == 400 && dialect == HTTP_BAZEL) {
		return "bazel-remote needs --disable_http_ac_validation";
	}
	if (status == 403 && dialect == HTTP_S3) {
		return "S3 also answers this for absent objects, unless s3:ListBucket is allowed";
	}
	if (status == 409 && method == HTTP_PUT) {
		return "the server does not create directories";
	}
	if (status == 500 && method == HTTP_PUT && dialect != HTTP_S3) {
		return "nginx needs create_full_put_path on, and permission to write";
	}
	if ((status == 405 || status == 501) && method == HTTP_PUT) {
		return "the server does not accept PUT: nginx needs dav_methods PUT";
	}
	return NULL;
}

/* For GET only 200 is a success, because the body of a 203 or 206 may differ from the stored value. */
static bool is_success(long status, enum http_method method)
{
	return method == HTTP_GET ? status == 200 : status >= 200 && status < 300;
}

/* A few cases of S3 and bazel-remote differ from the table and are checked first. */
enum engine_answer http_status_answer(long status, enum http_method method, enum http_dialect dialect,
                                      const char **ret_words)
{
	*ret_words = advice_for(status, method, dialect);
	if (is_success(status, method)) {
		return ENGINE_DONE;
	}
	if (status == 404 && dialect == HTTP_S3 && method == HTTP_PUT) {
		*ret_words = "no such bucket";
		return ENGINE_UNSUITED;
	}
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (status >= statuses[i].first && status <= statuses[i].last) {
			if (*ret_words == NULL) {
				*ret_words = statuses[i].words;
			}
			/* after a PUT, "absent" means that the server does not have that path */
			return statuses[i].answer == ENGINE_ABSENT && method == HTTP_PUT ? ENGINE_UNSUITED
			                                                                 : statuses[i].answer;
		}
	}
	return ENGINE_UNSUITED;
}

/* Searches for the element without an XML parser; "" if the text is unusual. */
void http_status_code_of_s3(const char *body, size_t size, char ret_code[48])
{
	static const char opening[] = "<Code>";
	const char *at = memmem(body, size, opening, sizeof(opening) - 1);
	size_t length = 0;

	ret_code[0] = '\0';
	if (at == NULL) {
		return;
	}
	at += sizeof(opening) - 1;
	while (at + length < body + size && length < 47 &&
	       ((at[length] >= 'a' && at[length] <= 'z') || (at[length] >= 'A' && at[length] <= 'Z'))) {
		length++;
	}
	if (at + length < body + size && at[length] == '<') {
		memcpy(ret_code, at, length);
		ret_code[length] = '\0';
	}
}
