/* SPDX-License-Identifier: MIT */
#include "agent/node/status.h"

#include "agent/node/listener.h"
#include "cache/harmless.h"
#include "cache/json.h"
#include "cache/version.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 5000

/* ---- the agent's side */

/* Lines for people leave out what is empty, 0 or false. */
struct writer {
	FILE *lines; /* NULL: JSON */
	struct json json;
};

/* Text from an engine is made harmless, so that it is one line of a terminal. */
static void write_text(struct writer *writer, const char *name, const char *text)
{
	char harmless[PATH_MAX + ENGINE_TEXT_MAX];

	snprintf(harmless, sizeof(harmless), "%s", text);
	harmless_text(harmless);
	if (writer->lines == NULL) {
		json_string(&writer->json, name, harmless);
	} else if (text[0] != '\0') {
		fprintf(writer->lines, "%-16s %s\n", name, harmless);
	}
}

static void write_number(struct writer *writer, const char *name, uint64_t number)
{
	if (writer->lines == NULL) {
		json_number(&writer->json, name, number);
	} else if (number != 0) {
		fprintf(writer->lines, "%-16s %" PRIu64 "\n", name, number);
	}
}

static void write_bool(struct writer *writer, const char *name, bool value)
{
	if (writer->lines == NULL) {
		json_bool(&writer->json, name, value);
	} else {
		write_text(writer, name, value ? "true" : "");
	}
}

static void write_date(struct writer *writer, const char *name, time_t when)
{
	char date[32] = "";
	struct tm parts;

	if (writer->lines == NULL) {
		json_number(&writer->json, name, (uint64_t)when);
	} else if (localtime_r(&when, &parts) != NULL) {
		(void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &parts);
		write_text(writer, name, date);
	}
}

static void write_counts(struct writer *writer, struct service *service)
{
	static const char *const counts[] = {
#define COUNT_NAME(name) #name,
	    SERVICE_COUNTS(COUNT_NAME)
#undef COUNT_NAME
	};
	static const char *const answers[] = {
#define ANSWER_WORD(name, word, state) word,
	    ENGINE_ANSWERS(ANSWER_WORD)
#undef ANSWER_WORD
	};

	for (int i = 0; i < SERVICE_COUNT_END; i++) {
		write_number(writer, counts[i], atomic_load(&service->counts[i]));
	}
	for (int i = 0; i < ENGINE_ANSWER_COUNT; i++) {
		if (answers[i][0] != '\0') { /* not an error */
			write_number(writer, answers[i], atomic_load(&service->answers[i]));
		}
	}
}

static void write_all(struct writer *writer, struct service *service, const char *socket, size_t uploads)
{
	const struct service_options *options = &service->options;

	write_text(writer, "version", NVRTCCACHE_VERSION);
	write_number(writer, "pid", (uint64_t)getpid());
	write_date(writer, "since", service->since);
	write_text(writer, "dir", service->settings.directory);
	write_text(writer, "socket", socket);
	write_text(writer, "engine", options->engine.address);
	write_text(writer, "prefix", options->engine.prefix);
	pthread_mutex_lock(&service->lock);
	write_text(writer, "state", service_state_name(service->state));
	write_text(writer, "why", service->why);
	write_date(writer, "state_since", service->state_since);
	pthread_mutex_unlock(&service->lock);
	write_bool(writer, "writes", options->writes == SERVICE_WRITES);
	write_bool(writer, "trusts_engine", options->trust == VALUE_TRUST_ENGINE);
	write_text(writer, "signs_with", service->keyring != NULL ? service->keyring->keys[0].id : "");
	write_counts(writer, service);
	write_number(writer, "uploads_waiting", uploads);
}

char *status_text(struct service *service, const char *socket, size_t uploads, enum status_form form, size_t *ret_size)
{
	struct writer writer = {.json = json_growing(JSON_BYTES_REPLACED, 1)};
	char *lines = NULL;

	*ret_size = 0;
	if (form == STATUS_LINES) {
		writer.lines = open_memstream(&lines, ret_size);
		if (writer.lines != NULL) {
			write_all(&writer, service, socket, uploads);
			fclose(writer.lines);
		}
		return lines;
	}
	json_begin_object(&writer.json, NULL);
	write_all(&writer, service, socket, uploads);
	json_end(&writer.json);
	json_end_line(&writer.json);
	*ret_size = writer.json.failed ? 0 : writer.json.size;
	return writer.json.bytes;
}

/* ---- the side of nvrtccache-agent --status */

/* Prints the agent's answer. Has a timeout, so that a stopped agent (SIGSTOP) does not block the command. */
static int ask_status(int socket, enum status_form form)
{
	static char text[AGENT_STATUS_MAX];
	const struct agent_message message = {.magic = AGENT_MAGIC,
	                                      .version = AGENT_VERSION,
	                                      .kind = form == STATUS_JSON ? AGENT_STATUS_JSON : AGENT_STATUS_LINES};
	struct pollfd polled = {.fd = socket, .events = POLLIN};
	ssize_t got;

	if (send(socket, &message, sizeof(message), MSG_NOSIGNAL) != (ssize_t)sizeof(message)) {
		return errno == EPIPE || errno == ECONNRESET ? -EPROTO : -errno;
	}
	if (poll(&polled, 1, PATIENCE_MS) != 1) {
		return -ETIMEDOUT;
	}
	got = recv(socket, text, sizeof(text), 0);
	if (got <= 0) {
		return -EPROTO;
	}
	fwrite(text, 1, (size_t)got, stdout);
	return 0;
}

/* As JSON too, because scripts then expect JSON. */
static void show_error(const char *socket, int error, enum status_form form)
{
	struct json json = json_growing(JSON_BYTES_REPLACED, 1);
	char text[PATH_MAX + 256];

	snprintf(text, sizeof(text), "%s: %s", socket,
	         error == -ENOENT ? "no agent is running" : listener_explain(error));
	service_say("%s", text);
	json_begin_object(&json, NULL);
	json_string(&json, "error", text);
	json_end(&json);
	json_end_line(&json);
	fwrite(json.bytes, 1, form == STATUS_JSON ? json.size : 0, stdout);
	json_free(&json);
}

/* Checks the socket as programs do, because another user could have created it. */
int command_status(const struct settings *settings, const char *said, enum status_form form)
{
	struct directory directory = {.path = settings->directory,
	                              .shared = settings->shared && settings->directory != NULL};
	const char *asked = said != NULL ? said : "the cache directory (--dir)";
	char path[PATH_MAX];
	int socket = -1;
	int error = agent_socket_path(said != NULL ? said : "1", settings->directory, path);

	if (error == 0) {
		asked = path;
		error = agent_socket_connect(path, &socket);
	}
	if (error == 0 && !agent_socket_trusted(socket, path, &directory)) {
		error = -EPERM;
	}
	error = error == 0 ? ask_status(socket, form) : error;
	if (error != 0) {
		show_error(asked, error, form);
	}
	if (socket >= 0) {
		close(socket);
	}
	return fflush(stdout) == 0 && error == 0 ? 0 : 1;
}
