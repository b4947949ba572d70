/* SPDX-License-Identifier: MIT */
#include "agent/node/status.h"

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

/* ---- the agent's side: a row is a letter for its kind, a name and a value, with spaces between */

/* Text from an engine is made harmless, so that it is one line of a terminal, and one row. */
static void write_text(FILE *rows, const char *name, const char *text)
{
	char harmless[PATH_MAX + ENGINE_TEXT_MAX];

	snprintf(harmless, sizeof(harmless), "%s", text);
	harmless_text(harmless);
	fprintf(rows, "t %s %s\n", name, harmless);
}

/* `kind`: 'n' is a number, 'd' a date, 'b' is true or false. */
static void write_number(FILE *rows, char kind, const char *name, uint64_t number)
{
	fprintf(rows, "%c %s %" PRIu64 "\n", kind, name, number);
}

static void write_counts(FILE *rows, struct service *service)
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
		write_number(rows, 'n', counts[i], atomic_load(&service->counts[i]));
	}
	for (int i = 0; i < ENGINE_ANSWER_COUNT; i++) {
		if (answers[i][0] != '\0') { /* not an error */
			write_number(rows, 'n', answers[i], atomic_load(&service->answers[i]));
		}
	}
}

/* The order of the rows is that of the output. Without memory the agent answers nothing, and the command says so. */
char *status_rows(struct service *service, const char *socket, size_t uploads)
{
	const struct service_options *options = &service->options;
	char *text = NULL;
	size_t size;
	FILE *rows = open_memstream(&text, &size);

	if (rows == NULL) {
		return NULL;
	}
	write_text(rows, "version", NVRTCCACHE_VERSION);
	write_number(rows, 'n', "pid", (uint64_t)getpid());
	write_number(rows, 'd', "since", (uint64_t)service->since);
	write_text(rows, "dir", service->settings.directory);
	write_text(rows, "socket", socket);
	write_text(rows, "engine", options->engine.address);
	write_text(rows, "prefix", options->engine.prefix);
	pthread_mutex_lock(&service->lock);
	write_text(rows, "state", service_state_name(service->state));
	write_text(rows, "why", service->why);
	write_number(rows, 'd', "state_since", (uint64_t)service->state_since);
	pthread_mutex_unlock(&service->lock);
	write_number(rows, 'b', "writes", options->writes == SERVICE_WRITES);
	write_number(rows, 'b', "trusts_engine", options->trust == VALUE_TRUST_ENGINE);
	write_text(rows, "signs_with", service->keyring != NULL ? service->keyring->keys[0].id : "");
	write_counts(rows, service);
	write_number(rows, 'n', "uploads_waiting", uploads);
	fclose(rows);
	return text;
}

/* ---- the side of nvrtccache-agent --status */

/* These texts tell users what is wrong with the agent, unlike the texts of errno, which describe the socket. */
static const char *explain_error(int error)
{
	switch (error) {
	case -ENOENT:
		return "no agent is running";
	case -ECONNREFUSED:
		return "the agent is not running any more";
	case -EAGAIN:
		return "the agent is overloaded";
	case -ETIMEDOUT:
		return "the agent does not answer";
	case -EPROTO:
		return "the agent sent no answer: it has another version, or serves other users";
	case -EPERM:
		return "not used: it belongs to another user";
	case -EINVAL:
		return "not an absolute path";
	default:
		return strerror(-error);
	}
}

/* Has a timeout, so that a stopped agent (SIGSTOP) does not block the command. */
static int ask_status(int socket, char *ret_rows, size_t size)
{
	const struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = AGENT_STATUS};
	struct pollfd polled = {.fd = socket, .events = POLLIN};
	ssize_t got;

	if (send(socket, &message, sizeof(message), MSG_NOSIGNAL) != (ssize_t)sizeof(message)) {
		return errno == EPIPE || errno == ECONNRESET ? -EPROTO : -errno;
	}
	if (poll(&polled, 1, PATIENCE_MS) != 1) {
		return -ETIMEDOUT;
	}
	got = recv(socket, ret_rows, size - 1, 0);
	if (got <= 0) {
		return -EPROTO;
	}
	ret_rows[got] = '\0';
	return 0;
}

/* Lines for people leave out what is empty, 0 or false. */
static void show_line(char kind, const char *name, const char *value)
{
	time_t when = strtoll(value, NULL, 10);
	char date[32] = "";
	struct tm parts;

	if (kind == 'd' && localtime_r(&when, &parts) != NULL) {
		(void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &parts);
		value = date;
	}
	if (value[0] != '\0' && strcmp(value, "0") != 0) {
		printf("%-16s %s\n", name, kind == 'b' ? "true" : value);
	}
}

static void show_member(struct json *json, char kind, const char *name, const char *value)
{
	if (kind == 't') {
		json_string(json, name, value);
	} else if (kind == 'b') {
		json_bool(json, name, value[0] == '1');
	} else {
		json_number(json, name, strtoull(value, NULL, 10));
	}
}

static void show_rows(char *rows, bool as_json)
{
	struct json json = json_growing(JSON_BYTES_REPLACED, 1);
	char *rest;

	json_begin_object(&json, NULL);
	for (char *row = strtok_r(rows, "\n", &rest); row != NULL; row = strtok_r(NULL, "\n", &rest)) {
		char *value = strlen(row) > 2 ? strchr(row + 2, ' ') : NULL;

		if (value == NULL) {
			continue;
		}
		*value++ = '\0';
		if (as_json) {
			show_member(&json, row[0], row + 2, value);
		} else {
			show_line(row[0], row + 2, value);
		}
	}
	json_end(&json);
	json_end_line(&json);
	fwrite(json.bytes, 1, as_json ? json.size : 0, stdout);
	json_free(&json);
}

/* Checks the socket as programs do, because another user could have created it. */
int command_status(const struct settings *settings, const char *said, bool as_json)
{
	static char rows[AGENT_STATUS_MAX + 1];
	struct directory directory = {.path = settings->directory,
	                              .shared = settings->shared && settings->directory != NULL};
	const char *asked = said != NULL ? said : "no cache directory";
	char text[PATH_MAX + 256];
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
	error = error == 0 ? ask_status(socket, rows, sizeof(rows)) : error;
	if (error != 0) { /* also as JSON, because scripts then expect JSON */
		snprintf(text, sizeof(text), "%s: %s", asked, explain_error(error));
		service_say("%s", text);
		snprintf(rows, sizeof(rows), "t error %s", text);
	}
	if (error == 0 || as_json) {
		show_rows(rows, as_json);
	}
	if (socket >= 0) {
		close(socket);
	}
	return fflush(stdout) == 0 && error == 0 ? 0 : 1;
}
