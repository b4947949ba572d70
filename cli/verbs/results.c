/* SPDX-License-Identifier: MIT */
#include "cli/verbs/results.h"

#include "cli/console/key.h"

#include <stdlib.h>
#include <string.h>

struct request results_request(const struct entry *entry)
{
	struct request request = {.memory = NULL};
	struct section about;

	if (entry_section(entry, ABOUT_SECTION, &about)) {
		(void)request_read(about.bytes, about.size, &request);
	}
	return request;
}

/* The first `skip` bytes of the section do not belong to the artifact. */
uint64_t results_artifact_size(const struct entry *entry, const struct about_fact *artifact)
{
	struct section section;

	return entry_section(entry, artifact->tag, &section) && section.size > artifact->skip
	           ? section.size - artifact->skip
	           : 0;
}

int results_return_code(const struct entry *entry)
{
	struct section code;

	return entry_section(entry, ABOUT_CODE_SECTION, &code) ? code.value : 0;
}

static void add_texts(struct json *json, const char *name, const struct request *request, enum about_kind kind)
{
	json_begin_array(json, name);
	for (size_t i = 0; i < request->counts[kind]; i++) {
		span_json(json, NULL, span_of(&request->facts[kind][i]));
	}
	json_end(json);
}

static void add_artifacts(struct json *json, const struct entry *entry, const struct request *request)
{
	json_begin_object(json, "artifacts");
	for (size_t i = 0; i < request->counts[ABOUT_ARTIFACT]; i++) {
		const struct about_fact *artifact = &request->facts[ABOUT_ARTIFACT][i];
		char *name = strndup(artifact->text, artifact->size);

		json_number(json, name ? name : "", results_artifact_size(entry, artifact));
		free(name);
	}
	json_end(json);
}

void results_json(struct json *json, const struct entry *entry, int64_t used_ns, const struct request *request)
{
	const struct entry_info *info = entry_info(entry);
	char key[KEY_TEXT_BYTES];

	json_string(json, "key", key_spell(info->key, key));
	span_json(json, "program", request_text(request, ABOUT_PROGRAM));
	span_json(json, "compiler", request_text(request, ABOUT_COMPILER));
	span_json(json, "version", request_text(request, ABOUT_RELEASE));
	span_json(json, "step", request_text(request, ABOUT_STEP));
	span_json(json, "arch", request_arch(request));
	add_texts(json, "options", request, ABOUT_OPTION);
	add_texts(json, "expressions", request, ABOUT_EXPRESSION);
	add_artifacts(json, entry, request);
	json_number(json, "bytes", info->total_size);
	json_number(json, "cost_ns", info->cost_ns);
	json_number(json, "made", info->created_ns / 1000000000);
	json_integer(json, "used", used_ns / 1000000000);
	json_integer(json, "returned", results_return_code(entry));
	span_json(json, "made_by", request_text(request, ABOUT_COMMAND));
	add_texts(json, "bound", request, ABOUT_BOUND);
}
