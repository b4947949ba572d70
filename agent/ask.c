/* SPDX-License-Identifier: MIT */
#include "agent/ask.h"

#include "agent/listener.h"
#include "agent/service.h"
#include "cache/agent_message.h"
#include "cache/agent_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 5000

static const char *reason(int error)
{
	switch (error) {
	case -ENOENT:
		return "no agent there";
	case -ECONNREFUSED:
		return "the agent that was there is dead";
	case -EAGAIN:
		return "the agent takes no more questions now";
	case -ETIMEDOUT:
		return "the agent does not answer";
	case -EPROTO:
		return "the agent there has no answer: it is of another version, or serves other users";
	case -EPERM:
		return "not asked: it is neither yours nor root's";
	case -EINVAL:
		return "not an absolute path";
	default:
		return strerror(-error);
	}
}

static int exchange(int socket, enum agent_kind kind, char *ret_text, size_t size)
{
	struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = (uint16_t)kind};
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

int ask_status(const struct settings *settings, const char *said, bool json)
{
	struct directory directory = {.path = settings->directory,
	                              .shared = settings->shared && settings->directory != NULL};
	char *text = malloc(AGENT_STATUS_MAX + 1);
	char path[PATH_MAX];
	int socket = -1;
	int error = text == NULL ? -ENOMEM : listener_path(settings->directory, said, path);

	if (error != 0) {
		service_say("%s: %s", said != NULL ? said : "no cache directory", reason(error));
		free(text);
		return 1;
	}
	error = agent_socket_connect(path, &socket);
	if (error == 0 && !agent_socket_trusted(socket, path, &directory)) {
		error = -EPERM;
	}
	if (error == 0) {
		error = exchange(socket, json ? AGENT_STATUS : AGENT_WORDS, text, AGENT_STATUS_MAX + 1);
	}
	if (error != 0) {
		service_say("%s: %s", path, reason(error));
	} else {
		fputs(text, stdout);
	}
	if (socket >= 0) {
		close(socket);
	}
	free(text);
	return error == 0 && fflush(stdout) == 0 ? 0 : 1;
}
