/* SPDX-License-Identifier: MIT */
/*
 * An option and its value may be separate facts, because the section has the strings as the program passed them.
 */
#include "cli/console/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool span_equal(struct span a, struct span b)
{
	/* the bytes of an empty span may be NULL, which memcmp() must not get */
	return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

bool span_is(struct span span, const char *text)
{
	return span_equal(span, span_text(text));
}

bool span_behind(struct span span, struct span head, struct span *ret_rest)
{
	if (span.size < head.size || !span_equal((struct span){span.bytes, head.size}, head)) {
		return false;
	}
	*ret_rest = (struct span){(const char *)span.bytes + head.size, span.size - head.size};
	return true;
}

struct span span_base(struct span path)
{
	const char *slash = path.size ? memrchr(path.bytes, '/', path.size) : NULL;
	size_t head = slash ? (size_t)(slash + 1 - (const char *)path.bytes) : 0;

	return (struct span){(const char *)path.bytes + head, path.size - head};
}

void span_json(struct json *json, const char *name, struct span span)
{
	if (span.bytes) {
		json_text(json, name, span.bytes, span.size);
	} else {
		json_string(json, name, NULL);
	}
}

static int take_fact(const struct about_fact *fact, void *context)
{
	struct request *request = context;
	size_t count = request->counts[fact->kind];
	struct about_fact *grown = realloc(request->facts[fact->kind], (count + 1) * sizeof(*grown));

	if (!grown) {
		return -ENOMEM;
	}
	grown[count] = *fact;
	request->facts[fact->kind] = grown;
	request->counts[fact->kind]++;
	return 0;
}

int request_read(const void *about, size_t size, struct request *ret_request)
{
	int error;

	*ret_request = (struct request){.is_cut = false};
	error = about_read(about, size, take_fact, ret_request);
	if (error != 0) {
		request_free(ret_request);
	}
	return error;
}

void request_free(struct request *request)
{
	for (size_t i = 0; i < REQUEST_KINDS; i++) {
		free(request->facts[i]);
	}
	*request = (struct request){.is_cut = false};
}

struct span request_text(const struct request *request, enum about_kind kind)
{
	return request->counts[kind] ? span_of(request->facts[kind]) : (struct span){NULL, 0};
}

bool request_is(const struct request *request, enum about_kind kind, const char *text)
{
	return span_is(request_text(request, kind), text);
}

struct span request_arch(const struct request *request)
{
	struct about_arch arch = {.text = NULL};

	for (size_t i = 0; i < request->counts[ABOUT_OPTION]; i++) {
		about_see_arch(&arch, request->facts[ABOUT_OPTION][i].text, request->facts[ABOUT_OPTION][i].size);
	}
	return (struct span){arch.text, arch.size};
}

const uint8_t *request_part(const struct request *request, struct span name)
{
	for (size_t i = 0; i < request->counts[ABOUT_PART]; i++) {
		if (span_equal(span_of(&request->facts[ABOUT_PART][i]), name)) {
			return request->facts[ABOUT_PART][i].digest;
		}
	}
	return NULL;
}

struct span request_binder(const struct request *request)
{
	/*
	 * used for messages only; when the key is made, the table in interpose/nvrtc/options.c decides which options
	 * are path-dependent
	 */
	static const char *const binders[] = {
	    "-G",        "--device-debug", "-lineinfo",    "--generate-line-info", "-dlto", "--dlink-time-opt",
	    "-optix-ir", "--optix-ir",     "-gen-opt-lto", "--gen-opt-lto",
	};

	for (size_t i = 0; i < request->counts[ABOUT_OPTION]; i++) {
		struct span option = span_of(&request->facts[ABOUT_OPTION][i]);

		for (size_t j = 0; j < sizeof(binders) / sizeof(binders[0]); j++) {
			if (span_is(option, binders[j])) {
				return option;
			}
		}
	}
	return (struct span){NULL, 0};
}
