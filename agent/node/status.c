/* SPDX-License-Identifier: MIT */
/* Writes the status as JSON, which `--status --json` prints unchanged. `--status` prints its members as lines. */
#include "agent/node/conversation.h"

#include "cache/json.h"
#include "cache/version.h"

#include <string.h>
#include <unistd.h>

/* ENGINE_DONE and ENGINE_ABSENT have no name here, because they are not errors. */
static const char *const error_names[ENGINE_ANSWERS] = {
    [ENGINE_TOO_LARGE] = "too_large", [ENGINE_FULL] = "full", [ENGINE_REFUSED] = "refused",
    [ENGINE_UNSUITED] = "unsuited",   [ENGINE_SLOW] = "slow", [ENGINE_UNREACHABLE] = "unreachable",
    [ENGINE_BROKEN] = "broken",
};

static const char *const bundle_states[] = {"none", "awaited", "fetched", "absent",
                                            "refused"}; /* enum service_bundle */

/* Returns the number of all answers. With 0, "up" means only that the engine was not asked yet. */
static uint64_t answers_of(const struct tally_numbers *shown)
{
	uint64_t answers = 0;

	for (int i = 0; i < ENGINE_ANSWERS; i++) {
		answers += shown->answers[i];
	}
	return answers;
}

/* Adds all error counts, also those that are 0, so that a dashboard has every series from the beginning. */
static void add_errors(struct json *json, const struct tally_numbers *shown)
{
	json_begin_object(json, "errors");
	for (int i = 0; i < ENGINE_ANSWERS; i++) {
		if (error_names[i] != NULL) {
			json_number(json, error_names[i], shown->answers[i]);
		}
	}
	json_end(json);
}

/* Each member is on a line of its own, because print_status() in agent/node/commands.c parses the text. */
char *status_json(struct service *service, const char *socket, struct status_waiting waiting)
{
	const struct service_options *options = &service->options;
	struct json json = json_growing(JSON_BYTES_REPLACED, 1);
	struct tally_numbers shown;
	char *text;

	tally_show(&service->tally, &shown);
	json_begin_object(&json, NULL);
	json_string(&json, "version", NVRTCCACHE_VERSION);
	json_integer(&json, "pid", getpid());
	json_integer(&json, "since", service->since);
	json_string(&json, "dir", service->settings.directory);
	json_string(&json, "socket", socket);
	json_string(&json, "engine", service->says);
	json_string(&json, "prefix", options->engine.prefix != NULL ? options->engine.prefix : "nvrtccache");
	json_bool(&json, "up", service_probe_wait_ns(service) < 0);
	json_string(&json, "last_error", shown.last_error);
	json_integer(&json, "last_error_time", shown.last_error_s);
	json_bool(&json, "writes", options->writes == SERVICE_WRITES);
	json_bool(&json, "trusts_engine", options->trust == VALUE_TRUST_ENGINE);
	json_string(&json, "signs_with", service->keyring != NULL ? service->keyring->keys[0].id : "");
	json_string(&json, "bundle", options->bundle != NULL ? options->bundle : "");
	json_string(&json, "bundle_state", bundle_states[atomic_load(&service->bundle)]);
	for (int i = 0; i < TALLY_COUNTS_END; i++) {
		json_number(&json, tally_name((enum tally_count)i), shown.counts[i]);
	}
	json_number(&json, "engine_p50_us", shown.p50_us);
	json_number(&json, "engine_p99_us", shown.p99_us);
	json_number(&json, "engine_answers", answers_of(&shown));
	json_number(&json, "fetches_waiting", waiting.fetches);
	json_number(&json, "uploads_waiting", waiting.uploads);
	add_errors(&json, &shown);
	json_end(&json);
	json_end_line(&json);
	text = json.failed ? NULL : strndup(json.bytes, json.size);
	json_free(&json);
	return text;
}
