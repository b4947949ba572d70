/* SPDX-License-Identifier: MIT */
#include "cli/verbs/results.h"

#include "cli/console/key.h"
#include "cli/console/reading.h"
#include "keygen/arch.h"

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
		result->sections[i].tag = section.tag;
		result->sections[i].size = section.size;
		result->section_count++;
		if (section.tag == ABOUT_CODE_SECTION) {
			result->return_code = section.value;
		}
		if (section.tag == ABOUT_SECTION && section.size > 0) {
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

void results_free_one(struct listed_result *result)
{
	free(result->about);
	free(result->sections);
}

int results_of_entry(const struct entry *entry, int64_t used_ns, struct listed_result *ret_result)
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
		results_free_one(&result);
		return -ENOMEM;
	}
	*ret_result = result;
	return 0;
}

static int take(void *context, const struct entry *entry, int64_t used)
{
	struct results *results = context;

	if (results->count == results->capacity) {
		size_t capacity = results->capacity ? 2 * results->capacity : 256;
		struct listed_result *list = realloc(results->list, capacity * sizeof(*list));

		if (!list) {
			return -ENOMEM;
		}
		results->list = list;
		results->capacity = capacity;
	}
	if (results_of_entry(entry, used, &results->list[results->count]) != 0) {
		return -ENOMEM;
	}
	results->count++;
	return 0;
}

static void turn_round(struct results *results)
{
	for (size_t i = 0, j = results->count; i + 1 < j; i++) {
		struct listed_result other = results->list[--j];

		results->list[j] = results->list[i];
		results->list[i] = other;
	}
}

int results_take(const struct settings *settings, struct results *ret_results)
{
	struct results results = {.count = 0};
	struct reading reading;
	int error = reading_begin(settings, "reading", &reading);

	if (error == 0) {
		error = reading_each(&reading, take, &results);
	}
	reading_end(&reading);
	if (error != 0) {
		results_free(&results);
		return error;
	}
	results.left_out = reading.left_out;
	results.unreadable = reading.unreadable;
	turn_round(&results);
	*ret_results = results;
	return 0;
}

void results_free(struct results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		results_free_one(&results->list[i]);
	}
	free(results->list);
	*results = (struct results){.count = 0};
}

struct wanted {
	enum about_kind kind;
	struct about_fact *found;
};

static int find_fact(const struct about_fact *fact, void *context)
{
	const struct wanted *wanted = context;

	if (fact->kind != wanted->kind) {
		return 0;
	}
	*wanted->found = *fact;
	return 1;
}

bool results_fact(const struct listed_result *result, enum about_kind kind, struct about_fact *ret_fact)
{
	struct wanted wanted = {kind, ret_fact};

	return result->about && about_read(result->about, result->about_size, find_fact, &wanted) == 1;
}

static int see_option(const struct about_fact *fact, void *context)
{
	if (fact->kind == ABOUT_OPTION) {
		arch_see(context, fact->text, fact->size);
	}
	return 0;
}

bool results_arch(const struct listed_result *result, struct about_fact *ret_fact)
{
	struct arch arch = {.text = NULL};

	if (!result->about || about_read(result->about, result->about_size, see_option, &arch) != 0 || !arch.text) {
		return false;
	}
	*ret_fact = (struct about_fact){.kind = ABOUT_OPTION, .text = arch.text, .size = arch.size};
	return true;
}

uint64_t results_artifact_size(const struct listed_result *result, const struct about_fact *artifact)
{
	for (size_t i = 0; i < result->section_count; i++) {
		if (result->sections[i].tag == artifact->tag) {
			return result->sections[i].size > artifact->skip ? result->sections[i].size - artifact->skip
			                                                 : 0;
		}
	}
	return 0;
}

static void add_fact(struct json *json, const char *name, const struct listed_result *result, enum about_kind kind)
{
	struct about_fact fact;

	if (results_fact(result, kind, &fact)) {
		json_text(json, name, fact.text, fact.size);
	} else {
		json_null(json, name);
	}
}

struct adding {
	struct json *json;
	enum about_kind kind;
	const struct listed_result *result;
};

static int add_member(const struct about_fact *fact, void *context)
{
	const struct adding *adding = context;

	if (fact->kind == adding->kind && fact->kind == ABOUT_ARTIFACT) {
		char *name = strndup(fact->text, fact->size);

		json_number(adding->json, name ? name : "", results_artifact_size(adding->result, fact));
		free(name);
	} else if (fact->kind == adding->kind) {
		json_text(adding->json, NULL, fact->text, fact->size);
	}
	return 0;
}

/* All facts of a kind. */
static void add_members(struct json *json, const char *name, const struct listed_result *result, enum about_kind kind)
{
	struct adding adding = {json, kind, result};

	if (kind == ABOUT_ARTIFACT) {
		json_begin_object(json, name);
	} else {
		json_begin_array(json, name);
	}
	if (result->about) {
		(void)about_read(result->about, result->about_size, add_member, &adding);
	}
	json_end(json);
}

void results_json(struct json *json, const struct listed_result *result)
{
	char key[KEY_TEXT_BYTES];
	struct about_fact arch;

	key_spell(result->key, key);
	json_string(json, "key", key);
	add_fact(json, "program", result, ABOUT_PROGRAM);
	add_fact(json, "compiler", result, ABOUT_COMPILER);
	add_fact(json, "version", result, ABOUT_RELEASE);
	add_fact(json, "step", result, ABOUT_STEP);
	if (results_arch(result, &arch)) {
		json_text(json, "arch", arch.text, arch.size);
	} else {
		json_null(json, "arch");
	}
	add_members(json, "options", result, ABOUT_OPTION);
	add_members(json, "expressions", result, ABOUT_EXPRESSION);
	add_members(json, "artifacts", result, ABOUT_ARTIFACT);
	json_number(json, "bytes", result->bytes);
	json_number(json, "cost_ns", result->cost_ns);
	json_number(json, "made", result->created_ns / 1000000000);
	json_integer(json, "used", result->used_ns / 1000000000);
	json_integer(json, "returned", result->return_code);
	add_fact(json, "made_by", result, ABOUT_COMMAND);
	add_members(json, "bound", result, ABOUT_BOUND);
}
