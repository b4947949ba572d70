/* SPDX-License-Identifier: MIT */
#include "cli/results.h"

#include "cli/reading.h"
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
