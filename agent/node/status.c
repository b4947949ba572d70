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

/* Writes the rows of the status: into `json`, or if `lines` is not NULL, as lines without zeros and empty texts. */
struct writer {
	struct json json;
	FILE *lines;
};

/* Lines are for a terminal, so text from an engine is made harmless; JSON escapes it. */
static void write_text(struct writer *writer, const char *name, const char *text)
{
	char harmless[PATH_MAX + ENGINE_TEXT_MAX];

	if (writer->lines == NULL) {
		json_string(&writer->json, name, text);
	} else if (text[0] != '\0') {
		snprintf(harmless, sizeof(harmless), "%s", text);
		harmless_text(harmless);
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

static void write_time(struct writer *writer, const char *name, time_t when)
{
	char text[32] = "";
	struct tm parts;

	if (writer->lines == NULL) {
		json_integer(&writer->json, name, when);
	} else if (localtime_r(&when, &parts) != NULL) {
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
		write_text(writer, name, text);
	}
}

/* false is left out of the lines, as zeros are. */
static void write_bool(struct writer *writer, const char *name, bool is_so)
{
	if (writer->lines == NULL) {
		json_bool(&writer->json, name, is_so);
	} else {
		write_text(writer, name, is_so ? "true" : "");
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
#define ANSWER_WORD(name, word) word,
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

/* The order of the rows is that of the output; names are the same in both forms. */
static void write_rows(struct writer *writer, struct service *service, const char *socket, size_t fetches,
                       size_t uploads)
{
	const struct service_options *options = &service->options;
	struct service_state state;

	service_show(service, &state);
	write_text(writer, "version", NVRTCCACHE_VERSION);
	write_number(writer, "pid", (uint64_t)getpid());
	write_time(writer, "since", service->since);
	write_text(writer, "dir", service->settings.directory);
	write_text(writer, "socket", socket);
	write_text(writer, "engine", service->says);
	write_text(writer, "state", service_state_name(state.state));
	write_text(writer, "why", state.why);
	write_time(writer, "state_since", state.since);
	write_bool(writer, "writes", options->writes == SERVICE_WRITES);
	write_bool(writer, "trusts_engine", options->trust == VALUE_TRUST_ENGINE);
	write_text(writer, "signs_with", service->keyring != NULL ? service->keyring->keys[0].id : "");
	write_counts(writer, service);
	write_number(writer, "fetches_waiting", fetches);
	write_number(writer, "uploads_waiting", uploads);
}

/* NULL if there is no memory; the agent then answers nothing, and the command says so. */
char *status_text(struct service *service, const char *socket, enum agent_kind form, size_t fetches, size_t uploads)
{
	struct writer writer = {.json = json_growing(JSON_BYTES_REPLACED, 1)};
	char *text = NULL;
	size_t size;

	if (form == AGENT_STATUS_LINES) {
		writer.lines = open_memstream(&text, &size);
		if (writer.lines != NULL) {
			write_rows(&writer, service, socket, fetches, uploads);
			fclose(writer.lines);
		}
		return text;
	}
	json_begin_object(&writer.json, NULL);
	write_rows(&writer, service, socket, fetches, uploads);
	json_end(&writer.json);
	json_end_line(&writer.json);
	text = writer.json.failed ? NULL : strndup(writer.json.bytes, writer.json.size);
	json_free(&writer.json);
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
static int ask_status(int socket, enum agent_kind form, char *ret_text, size_t size)
{
	struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = (uint16_t)form};
	struct pollfd polled = {.fd = socket, .events = POLLIN};
	ssize_t got;

	if (send(socket, &message, sizeof(message), MSG_NOSIGNAL) != (ssize_t)sizeof(message)) {
		return errno == EPIPE || errno == ECONNRESET ? -EPROTO : -errno;
	}
	if (poll(&polled, 1, PATIENCE_MS) != 1) {
		return -ETIMEDOUT;
	}
	got = recv(socket, ret_text, size - 1, 0);
	if (got <= 0) {
		return -EPROTO;
	}
	ret_text[got] = '\0';
	return 0;
}

/* Prints an error on stderr, and with --json also as an object on stdout, because scripts then expect JSON. */
static void report_failure(const char *asked, int error, bool as_json)
{
	struct json json = json_growing(JSON_BYTES_REPLACED, 0);
	char text[PATH_MAX + 256];

	snprintf(text, sizeof(text), "%s: %s", asked, explain_error(error));
	service_say("%s", text);
	json_begin_object(&json, NULL);
	json_string(&json, "error", text);
	json_end(&json);
	json_end_line(&json);
	fwrite(json.bytes, 1, as_json ? json.size : 0, stdout);
	json_free(&json);
}

/* Checks the socket as programs do, because another user could have created it. */
int command_status(const struct settings *settings, const char *said, bool as_json)
{
	static char text[AGENT_STATUS_MAX + 1];
	struct directory directory = {.path = settings->directory,
	                              .shared = settings->shared && settings->directory != NULL};
	const char *asked = said != NULL ? said : "no cache directory";
	char path[PATH_MAX];
	int socket = -1;
	int error = listener_path(settings->directory, said, path);

	if (error == 0) {
		asked = path;
		error = agent_socket_connect(path, &socket);
	}
	if (error == 0 && !agent_socket_trusted(socket, path, &directory)) {
		error = -EPERM;
	}
	if (error == 0) {
		error = ask_status(socket, as_json ? AGENT_STATUS : AGENT_STATUS_LINES, text, sizeof(text));
	}
	if (error != 0) {
		report_failure(asked, error, as_json);
	} else {
		fputs(text, stdout);
	}
	if (socket >= 0) {
		close(socket);
	}
	return fflush(stdout) == 0 && error == 0 ? 0 : 1;
}
