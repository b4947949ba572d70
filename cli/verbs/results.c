/* SPDX-License-Identifier: MIT */
/*
 * Entries are copied without their artifacts, except for tags and sizes, because `ls` has all entries of the cache in
 * memory at once and an artifact may have megabytes.
 */
#include "cli/verbs/results.h"

#include "cli/console/key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int copy_sections(const struct entry *entry, struct listed_result *result)
{
	const size_t count = entry_info(entry)->section_count;
	struct section section;

	result->sections = calloc(count + 1, sizeof(*result->sections));
	if (!result->sections) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < count && entry_section_at(entry, i, &section); i++) {
		result->sections[result->section_count++] = (struct result_section){section.tag, section.size};
		if (section.tag == ABOUT_CODE_SECTION) {
			result->return_code = section.value;
		}
		if (section.tag == ABOUT_SECTION && section.size > 0) {
			/* copied, because the entry is released after the visit */
			result->about = malloc(section.size);
			if (!result->about) {
				return -ENOMEM;
			}
			memcpy(result->about, section.bytes, section.size);
			result->about_size = section.size;
		}
	}
	return 0;
}

void results_free(struct listed_result *result)
{
	free(result->about);
	free(result->sections);
}

int results_copy(const struct entry *entry, int64_t used_ns, struct listed_result *ret_result)
{
	const struct entry_info *info = entry_info(entry);
	struct listed_result result = {
	    .used_ns = used_ns,
	    .bytes = info->total_size,
	    .cost_ns = info->cost_ns,
	    .created_ns = info->created_ns,
	};

	memcpy(result.key, info->key, sizeof(result.key));
	if (copy_sections(entry, &result) != 0) {
		results_free(&result);
		return -ENOMEM;
	}
	*ret_result = result;
	return 0;
}

struct request results_request(const struct listed_result *result)
{
	struct request request = {.option_count = 0};

	if (result->about) {
		/* a damaged about section leaves `request` empty, and the entry is listed without names */
		(void)request_read(result->about, result->about_size, &request);
	}
	return request;
}

uint64_t results_artifact_size(const struct listed_result *result, const struct about_fact *artifact)
{
	for (size_t i = 0; i < result->section_count; i++) {
		if (result->sections[i].tag == artifact->tag) {
			/* the first `skip` bytes of the section do not belong to the artifact */
			return result->sections[i].size > artifact->skip ? result->sections[i].size - artifact->skip
			                                                 : 0;
		}
	}
	return 0;
}

static void add_texts(struct json *json, const char *name, const struct request *request, enum about_kind kind)
{
	json_begin_array(json, name);
	for (size_t i = 0; i < request->counts[kind]; i++) {
		span_json(json, NULL, span_of(&request->facts[kind][i]));
	}
	json_end(json);
}

static void add_artifacts(struct json *json, const struct listed_result *result, const struct request *request)
{
	json_begin_object(json, "artifacts");
	for (size_t i = 0; i < request->counts[ABOUT_ARTIFACT]; i++) {
		const struct about_fact *artifact = &request->facts[ABOUT_ARTIFACT][i];
		char *name = strndup(artifact->text, artifact->size);

		json_number(json, name ? name : "", results_artifact_size(result, artifact));
		free(name);
	}
	json_end(json);
}

void results_json(struct json *json, const struct listed_result *result, const struct request *request)
{
	char key[KEY_TEXT_BYTES];

	key_spell(result->key, key);
	json_string(json, "key", key);
	span_json(json, "program", request_text(request, ABOUT_PROGRAM));
	span_json(json, "compiler", request_text(request, ABOUT_COMPILER));
	span_json(json, "version", request_text(request, ABOUT_RELEASE));
	span_json(json, "step", request_text(request, ABOUT_STEP));
	span_json(json, "arch", request_arch(request));
	add_texts(json, "options", request, ABOUT_OPTION);
	add_texts(json, "expressions", request, ABOUT_EXPRESSION);
	add_artifacts(json, result, request);
	json_number(json, "bytes", result->bytes);
	json_number(json, "cost_ns", result->cost_ns);
	json_number(json, "made", result->created_ns / 1000000000);
	json_integer(json, "used", result->used_ns / 1000000000);
	json_integer(json, "returned", result->return_code);
	span_json(json, "made_by", request_text(request, ABOUT_COMMAND));
	add_texts(json, "bound", request, ABOUT_BOUND);
}
