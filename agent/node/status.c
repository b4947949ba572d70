/* SPDX-License-Identifier: MIT */
#include "agent/node/status.h"

#include "agent/node/listener.h"
#include "cache/calls.h"
#include "cache/harmless.h"
#include "cache/json.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 5000

/* Lines for people leave out what is empty, 0 or false. */
static void print_line(const char *name, const char *value)
{
	time_t when = (time_t)strtoll(value, NULL, 10);
	char date[32] = "";
	struct tm parts;

	if (strstr(name, "since") != NULL && localtime_r(&when, &parts) != NULL) {
		(void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &parts);
		value = date;
	} else if (strcmp(value, "0") == 0 || strcmp(value, "false") == 0 || strcmp(value, "\"") == 0) {
		return;
	}
	printf("%-16s %s\n", name, value + (value[0] == '"'));
}

static void add_member(struct json *json, const char *name, const char *value)
{
	if (value[0] == '"') {
		json_string(json, name, value + 1);
	} else if (value[0] == 't' || value[0] == 'f') {
		json_bool(json, name, value[0] == 't');
	} else {
		json_number(json, name, strtoll(value, NULL, 10));
	}
}

/* Text from an engine is made harmless, so that it is one line of a terminal. */
static void print_status(char *text, const char *end, enum status_form form)
{
	struct json json = {.bytes = NULL};
	char *value;

	json_begin_object(&json, NULL);
	for (char *name = text; name < end && (value = strchr(name, ' ')) != NULL; name = strchr(value, '\0') + 1) {
		*value++ = '\0';
		harmless_text(value);
		if (form == STATUS_LINES) {
			print_line(name, value);
		} else {
			add_member(&json, name, value);
		}
	}
	json_end(&json);
	json_end_line(&json);
	fwrite(json.bytes, 1, form == STATUS_JSON ? json.size : 0, stdout);
	json_free(&json);
}

/* Prints the agent's answer. Has a timeout, so that a stopped agent (SIGSTOP) does not block the command. */
static int ask_status(int socket, enum status_form form)
{
	static char text[AGENT_STATUS_MAX + 1];
	const struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = AGENT_STATUS};
	struct pollfd polled = {.fd = socket, .events = POLLIN};
	ssize_t got;

	if (send(socket, &message, sizeof(message), MSG_NOSIGNAL) != (ssize_t)sizeof(message)) {
		return errno == EPIPE || errno == ECONNRESET ? -EPROTO : -errno;
	}
	if (poll(&polled, 1, PATIENCE_MS) != 1) {
		return -ETIMEDOUT;
	}
	got = recv(socket, text, AGENT_STATUS_MAX, 0);
	if (got <= 0) {
		return -EPROTO;
	}
	print_status(text, text + got, form);
	return 0;
}

/* As JSON too, because scripts then expect JSON. */
static void show_error(const char *socket, int error, enum status_form form)
{
	struct json json = {.bytes = NULL};
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
	call_close(socket);
	return fflush(stdout) == 0 && error == 0 ? 0 : 1;
}
