/* SPDX-License-Identifier: MIT */
/*
 * The about section is read twice: once to count the facts of each kind, once to copy them. One array holds all facts,
 * and each kind is a slice of it, in the section's order.
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
		json_null(json, name);
	}
}

void span_json_filled(struct json *json, const char *name, struct span span)
{
	span_json(json, name, span.size ? span : (struct span){NULL, 0});
}

static int count_fact(const struct about_fact *fact, void *context)
{
	size_t *counts = context;

	counts[fact->kind]++;
	return 0;
}

static int take_fact(const struct about_fact *fact, void *context)
{
	struct request *request = context;

	/*
	 * count_fact() has counted the room for each kind. The array is const for readers; only this function writes
	 * to it.
	 */
	((struct about_fact *)(uintptr_t)request->facts[fact->kind])[request->counts[fact->kind]++] = *fact;
	return 0;
}

int request_read(const void *about, size_t size, struct request *ret_request)
{
	struct request request = {.memory = NULL};
	size_t counts[REQUEST_KINDS] = {0}, sum = 0;
	int error = about_read(about, size, count_fact, counts);
	struct about_fact *facts;

	if (error != 0) {
		return error;
	}
	for (size_t i = 0; i < REQUEST_KINDS; i++) {
		sum += counts[i];
	}
	/* one element more than needed, because calloc() of 0 elements may return NULL, as it does without memory */
	request.memory = facts = calloc(sum + 1, sizeof(*facts));
	if (!facts) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < REQUEST_KINDS; i++) {
		request.facts[i] = facts;
		facts += counts[i];
	}
	/* cannot fail: the first reading of the same bytes succeeded, and take_fact() returns 0 for each fact */
	(void)about_read(about, size, take_fact, &request);
	*ret_request = request;
	return 0;
}

void request_free(struct request *request)
{
	free(request->memory);
	*request = (struct request){.memory = NULL};
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

const struct about_fact *request_find(const struct request *request, struct span name)
{
	for (size_t i = 0; i < request->counts[ABOUT_PART]; i++) {
		if (span_equal(span_of(&request->facts[ABOUT_PART][i]), name)) {
			return &request->facts[ABOUT_PART][i];
		}
	}
	return NULL;
}

const uint8_t *request_part(const struct request *request, const char *name)
{
	const struct about_fact *part = request_find(request, span_text(name));

	return part ? part->digest : NULL;
}

bool request_is_bound(const struct request *request)
{
	return request_part(request, "working directory") != NULL;
}

struct span request_binder(const struct request *request)
{
	/*
	 * used for messages only; when the key is made, the table in interpose/nvrtc/options.c decides which options
	 * are path-dependent
	 */
	static const char *const binders[] = {
	    "-G",        "--device-debug", "-lineinfo",    "--generate-line-info", "-dlto", "--dlink-time-opt",
	    "-optix-ir", "--optix-ir",     "-gen-opt-lto", "--gen-opt-lto",        "-pch",  "--pch",
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
