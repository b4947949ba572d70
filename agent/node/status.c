/* SPDX-License-Identifier: MIT */
#include "agent/node/conversation.h"

#include "cache/json.h"
#include "cache/version.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By enum engine_answer; NULL: no error. */
static const char *const error_names[ENGINE_ANSWERS] = {
    [ENGINE_TOO_LARGE] = "too_large", [ENGINE_FULL] = "full", [ENGINE_REFUSED] = "refused",
    [ENGINE_UNSUITED] = "unsuited",   [ENGINE_SLOW] = "slow", [ENGINE_UNREACHABLE] = "unreachable",
    [ENGINE_BROKEN] = "broken",
};

static bool is_up(const struct service *service)
{
	return service_probe_wait_ns(service) < 0;
}

static const char *const bundle_states[] = {"none", "awaited", "fetched", "absent",
                                            "refused"}; /* enum service_bundle */

static const char *prefix_of(const struct service *service)
{
	return service->options.engine.prefix != NULL ? service->options.engine.prefix : "nvrtccache";
}

static const char *signer_of(const struct service *service)
{
	return service->keyring != NULL ? service->keyring->keys[0].id : "";
}

static uint64_t answers_of(const struct tally_shown *shown)
{
	uint64_t answers = 0;

	for (int i = 0; i < ENGINE_ANSWERS; i++) {
		answers += shown->answers[i];
	}
	return answers;
}

static void put_errors_json(struct json *json, const struct tally_shown *shown)
{
	json_begin_object(json, "errors");
	for (int i = 0; i < ENGINE_ANSWERS; i++) {
		if (error_names[i] != NULL) {
			json_number(json, error_names[i], shown->answers[i]);
		}
	}
	json_end(json);
}

char *status_json(struct service *service, const char *socket, struct status_waiting waiting)
{
	const struct service_options *options = &service->options;
	struct json json = json_growing(JSON_BYTES_REPLACED, 1);
	struct tally_shown shown;
	char *text;

	tally_show(&service->tally, &shown);
	json_begin_object(&json, NULL);
	json_string(&json, "version", NVRTCCACHE_VERSION);
	json_integer(&json, "pid", getpid());
	json_integer(&json, "since", service->since);
	json_string(&json, "dir", service->settings.directory);
	json_string(&json, "socket", socket);
	json_string(&json, "engine", service->says);
	json_string(&json, "prefix", prefix_of(service));
	json_bool(&json, "up", is_up(service));
	json_string(&json, "last_error", shown.last_error);
	json_integer(&json, "last_error_time", shown.last_error_s);
	json_bool(&json, "writes", options->writes == SERVICE_WRITES);
	json_bool(&json, "trusts_engine", options->trust == VALUE_TRUST_ENGINE);
	json_string(&json, "signs_with", signer_of(service));
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
	put_errors_json(&json, &shown);
	json_end(&json);
	json_end_line(&json);
	text = json.failed ? NULL : strndup(json.bytes, json.size);
	json_free(&json);
	return text;
}

static void put_bytes(FILE *out, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double shown = (double)bytes;
	size_t unit = 0;

	while (shown >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		shown /= 1024;
		unit++;
	}
	fprintf(out, "%.*f %s", unit == 0 ? 0 : 1, shown, units[unit]);
}

static void put_when(FILE *out, time_t when)
{
	char text[32] = "";
	struct tm parts;

	if (localtime_r(&when, &parts) != NULL) {
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	}
	fputs(text, out);
}

static void put_rights(FILE *out, const struct service *service)
{
	const struct service_options *options = &service->options;

	fputs(options->writes == SERVICE_WRITES ? "reads and writes" : "reads only", out);
	if (options->writes == SERVICE_WRITES && service->keyring != NULL) {
		fprintf(out, ", signs with %s", signer_of(service));
	}
	if (options->trust == VALUE_TRUST_ENGINE) {
		fputs(", believes what nobody has signed", out);
	} else {
		fprintf(out, ", believes %zu %s", service->keyring != NULL ? service->keyring->count : 0,
		        service->keyring != NULL && service->keyring->count == 1 ? "key" : "keys");
	}
	fputc('\n', out);
}

static void put_errors(FILE *out, const struct tally_shown *shown)
{
	const char *comma = "";

	fputs("errors      ", out);
	for (int i = 0; i < ENGINE_ANSWERS; i++) {
		if (error_names[i] != NULL && shown->answers[i] != 0) {
			fprintf(out, "%s%" PRIu64 " %s", comma, shown->answers[i], error_names[i]);
			comma = ", ";
		}
	}
	fputs(*comma == '\0' ? "none\n" : "\n", out);
	if (shown->last_error[0] != '\0') {
		fputs("the last    ", out);
		put_when(out, (time_t)shown->last_error_s);
		fprintf(out, "  %s\n", shown->last_error);
	}
}

static void put_counts(FILE *out, const struct tally_shown *shown, struct status_waiting waiting)
{
	const uint64_t *counts = shown->counts;

	fprintf(out, "asked       %" PRIu64 ": %" PRIu64 " fetches (%" PRIu64 " found, %" PRIu64 " absent), ",
	        counts[TALLY_asked], counts[TALLY_fetches], counts[TALLY_found], counts[TALLY_absent]);
	fprintf(out,
	        "%" PRIu64 " joined one, %" PRIu64 " known to be absent, %" PRIu64 " while it was down; %zu waiting\n",
	        counts[TALLY_joined], counts[TALLY_absent_known], counts[TALLY_down], waiting.fetches);
	fputs("fetched     ", out);
	put_bytes(out, counts[TALLY_fetched_bytes]);
	fprintf(out, "; the engine takes %.1f ms (p50), %.1f ms (p99)\n", (double)shown->p50_us / 1000,
	        (double)shown->p99_us / 1000);
	fprintf(out, "uploads     %" PRIu64 " (", counts[TALLY_uploads]);
	put_bytes(out, counts[TALLY_uploaded_bytes]);
	fprintf(out, "), %" PRIu64 " were there, %" PRIu64 " left out, %" PRIu64 " dropped; %zu waiting\n",
	        counts[TALLY_exists_skipped], counts[TALLY_left_out], counts[TALLY_dropped], waiting.uploads);
	fprintf(out,
	        "refused     %" PRIu64 " signatures, %" PRIu64 " formats, %" PRIu64 " damaged values; %" PRIu64
	        " users, %" PRIu64 " messages, %" PRIu64 " from another directory\n",
	        counts[TALLY_mac_refused], counts[TALLY_format_refused], counts[TALLY_damaged],
	        counts[TALLY_peers_refused], counts[TALLY_messages_refused], counts[TALLY_elsewhere]);
	if (counts[TALLY_store_errors] != 0) {
		fprintf(out, "not stored  %" PRIu64 "\n", counts[TALLY_store_errors]);
	}
}

static void put_bundle(FILE *out, struct service *service, const struct tally_shown *shown)
{
	if (service->options.bundle != NULL) {
		fprintf(out, "bundle      %s: %s, %" PRIu64 " %s, ", service->options.bundle,
		        bundle_states[atomic_load(&service->bundle)], shown->counts[TALLY_bundle_results],
		        shown->counts[TALLY_bundle_results] == 1 ? "result" : "results");
		put_bytes(out, shown->counts[TALLY_bundle_bytes]);
		fputc('\n', out);
	}
}

/* What is shown on terminals commands none of them. */
static void disarm_text(char *text)
{
	for (; *text != '\0'; text++) {
		if (*text != '\n' && iscntrl((unsigned char)*text)) {
			*text = '?';
		}
	}
}

char *status_words(struct service *service, const char *socket, struct status_waiting waiting)
{
	struct tally_shown shown;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL) {
		return NULL;
	}
	tally_show(&service->tally, &shown);
	fprintf(out, "nvrtccache-agent %s, pid %d, since ", NVRTCCACHE_VERSION, getpid());
	put_when(out, service->since);
	fprintf(out, "\nengine      %s\nstate       %s\nrights      ", service->says,
	        answers_of(&shown) == 0 ? "not asked yet"
	        : is_up(service)        ? "up"
	                                : "down, left alone for now");
	put_rights(out, service);
	fprintf(out, "directory   %s\nsocket      %s\n", service->settings.directory, socket);
	put_bundle(out, service, &shown);
	put_counts(out, &shown, waiting);
	put_errors(out, &shown);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	disarm_text(text);
	return text;
}
