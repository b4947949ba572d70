/* SPDX-License-Identifier: MIT */
#include "agent/node/upload.h"

#include "agent/wire/parcel.h"
#include "cache/tools/inventory.h"
#include "keygen/about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HAS_LIMIT_MS 2000

struct task {
	struct service *service;
	struct engine *engine;
	struct service_puts *puts;
	struct engine_name name;
	unsigned limit_ms;
	struct parcel ours;
};

/* ---- which results are uploaded */

/* Returns whether the fact makes the result path-dependent. That ends about_read(), because one such fact is enough. */
static int find_bound(const struct about_fact *fact, void *context)
{
	static const char part[] = "working directory"; /* the key contains the path, so the result is path-dependent */

	(void)context;
	return fact->kind == ABOUT_BOUND || (fact->kind == ABOUT_PART && fact->size == sizeof(part) - 1 &&
	                                     memcmp(fact->text, part, fact->size) == 0);
}

/* Returns whether a result is path-dependent. Without an about section it may be, and counts as such. */
static bool is_bound(const struct entry *entry)
{
	struct section about;

	return !entry_section(entry, ABOUT_SECTION, &about) ||
	       about_read(about.bytes, about.size, find_bound, NULL) != 0;
}

/* Returns whether a result may be uploaded. Readers have the same size limit and would reject a larger value. */
static bool may_go(const struct service *service, const struct entry *entry)
{
	const struct service_options *options = &service->options;
	struct section section;

	return !entry_section(entry, ABOUT_SLOPPY_SECTION, &section) &&
	       entry_info(entry)->cost_ns >= options->least_cost_ns &&
	       entry_info(entry)->total_size <= service->raw_max &&
	       (options->results == SERVICE_ALL_RESULTS || !is_bound(entry));
}

/*
 * Adds a result in front of the others, because entries are read oldest first and the newest must be first in the
 * value. Results that may not be uploaded are counted for the operator.
 */
static int take_result(void *context, const struct entry *entry)
{
	struct task *task = context;
	struct parcel one = {.count = 0};
	int error;

	if (!may_go(task->service, entry)) {
		tally_add(&task->service->tally, TALLY_left_out, 1);
		return 0;
	}
	error = parcel_add(&one, entry);
	if (error == 0) {
		(void)parcel_merge(&one, &task->ours);
		parcel_free(&task->ours);
		task->ours = one;
	}
	return error;
}

/* ---- what the engine has */

/*
 * Decides whether our results have to be uploaded, and merges those of the engine into them. Returns ENGINE_ABSENT if
 * they have to be put, ENGINE_DONE if not. Without the merge a put would drop the results of other nodes, which would
 * then compile and put them again, and so on.
 */
static enum engine_answer merge_theirs(struct task *task)
{
	struct parcel theirs = {.count = 0};
	struct engine_error error = {.text = ""};
	struct service *service = task->service;
	enum value_found found;
	enum engine_answer answer;
	void *value = NULL;
	size_t size = 0;

	answer = engine_get(task->engine, &task->name, task->limit_ms, &value, &size, &error);
	service_answered(service, answer, &error);
	if (answer != ENGINE_DONE) {
		return answer;
	}
	found = parcel_open(value, size, task->name.key, service->keyring, service->options.trust, service->raw_max,
	                    &theirs);
	if (found != VALUE_SOUND) {
		tally_refused(&service->tally, found);
		answer = found == VALUE_FOREIGN || found == VALUE_UNKNOWN_KEY || found == VALUE_LARGE ||
		                 found == VALUE_NO_MEMORY
		             ? ENGINE_DONE
		             : ENGINE_ABSENT;
	} else if (parcel_holds(&theirs, &task->ours)) {
		tally_add(&service->tally, TALLY_exists_skipped, 1);
	} else {
		(void)parcel_merge(&task->ours, &theirs);
		answer = ENGINE_ABSENT;
	}
	parcel_free(&theirs);
	free(value);
	return answer;
}

/* Checks first whether the engine has the key, which transfers no value; usually it does. */
static enum engine_answer ask_whether_there(struct task *task)
{
	unsigned limit_ms = task->limit_ms < HAS_LIMIT_MS ? task->limit_ms : HAS_LIMIT_MS;
	struct engine_error error = {.text = ""};
	enum engine_answer answer = engine_has(task->engine, &task->name, limit_ms, &error);

	service_answered(task->service, answer, &error);
	return answer;
}

/* Only the answer to a put is noted in the breaker of uploads, because a full engine can still be read. */
static enum engine_answer put_parcel(struct task *task)
{
	struct service *service = task->service;
	struct engine_error error = {.text = ""};
	enum engine_answer answer = ENGINE_TOO_LARGE;
	void *value = NULL;
	size_t size;

	if (parcel_seal(&task->ours, task->name.key, service->keyring, service->raw_max, &value, &size) == 0) {
		answer = engine_put(task->engine, &task->name, value, size, task->limit_ms, &error);
		service_put(service, task->puts, answer, &error);
		tally_add(&service->tally, TALLY_uploads, answer == ENGINE_DONE);
		tally_add(&service->tally, TALLY_uploaded_bytes, answer == ENGINE_DONE ? size : 0);
	}
	free(value);
	return answer;
}

/* ---- one key */

/* If the key is enough, the results are read only if the engine lacks it; a sweep would otherwise read all files. */
static enum engine_answer settle_key(struct task *task, enum upload_one how)
{
	enum engine_answer answer = ask_whether_there(task);

	if (answer != ENGINE_ABSENT && (answer != ENGINE_DONE || how == UPLOAD_ONE_IF_ABSENT)) {
		tally_add(&task->service->tally, TALLY_exists_skipped, answer == ENGINE_DONE);
		return answer;
	}
	/* errors are ignored, because an entry that was evicted meanwhile or is damaged is simply not put */
	(void)inventory_read(&task->service->directory, task->name.key, take_result, task);
	if (task->ours.count == 0) {
		return ENGINE_DONE;
	}
	answer = answer == ENGINE_DONE ? merge_theirs(task) : answer;
	return answer == ENGINE_ABSENT ? put_parcel(task) : answer;
}

enum upload_one_done upload_one(struct service *service, struct engine *engine, struct service_puts *puts,
                                const uint8_t key[ENTRY_KEY_BYTES], enum upload_one how, unsigned limit_ms)
{
	struct task task = {
	    .service = service, .engine = engine, .puts = puts, .name.format = ENTRY_FORMAT, .limit_ms = limit_ms};
	enum engine_answer answer;

	memcpy(task.name.key, key, sizeof(task.name.key));
	answer = settle_key(&task, how);
	parcel_free(&task.ours);
	switch (answer) {
	case ENGINE_DONE:
	case ENGINE_TOO_LARGE:
		service_note_settled(service, key);
		return UPLOAD_ONE_SETTLED;
	case ENGINE_REFUSED:
	case ENGINE_FULL:
	case ENGINE_UNSUITED:
		return UPLOAD_ONE_GIVEN_UP;
	default:
		return UPLOAD_ONE_FAILED;
	}
}
