/* SPDX-License-Identifier: MIT */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct stream {
	int pipe[2];
	char *text;
	size_t size;
};

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_end(struct stream *stream, int end)
{
	if (stream->pipe[end] >= 0) {
		close(stream->pipe[end]);
		stream->pipe[end] = -1;
	}
}

/* False at its end. What is too much is read and dropped. */
static bool take(struct stream *stream)
{
	char dropped[4096];
	bool full = stream->size == CHILD_TEXT_MAX;
	ssize_t got = read(stream->pipe[0], full ? dropped : stream->text + stream->size,
	                   full ? sizeof(dropped) : CHILD_TEXT_MAX - stream->size);

	if (got > 0 && !full) {
		stream->size += (size_t)got;
	}
	return got > 0 || (got < 0 && errno == EINTR);
}

/* Until both streams are closed, or it is late: then false. */
static bool listen_to(struct stream streams[2], int64_t end_ms)
{
	while (streams[0].pipe[0] >= 0 || streams[1].pipe[0] >= 0) {
		struct pollfd polled[2] = {{.fd = streams[0].pipe[0], .events = POLLIN},
		                           {.fd = streams[1].pipe[0], .events = POLLIN}};
		int64_t left = end_ms - now_ms();

		if (left <= 0) {
			return false;
		}
		if (poll(polled, 2, left > 1000 ? 1000 : (int)left) < 0 && errno != EINTR) {
			return false;
		}
		for (int i = 0; i < 2; i++) {
			if (polled[i].revents != 0 && !take(&streams[i])) {
				close_end(&streams[i], 0);
			}
		}
	}
	return true;
}

/* It has closed its streams, which a program may do long before it ends. */
static bool wait_for(pid_t pid, int64_t end_ms, int *ret_status)
{
	const struct timespec pause = {0, 2000000};
	pid_t ended;

	while ((ended = waitpid(pid, ret_status, WNOHANG)) == 0 && now_ms() < end_ms) {
		(void)nanosleep(&pause, NULL);
	}
	return ended == pid;
}

static int start(const char *const *argv, char *const *environment, struct stream streams[2], pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error;

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	for (int i = 0; i < 2 && error == 0; i++) {
		error = posix_spawn_file_actions_adddup2(&actions, streams[i].pipe[1], STDOUT_FILENO + i);
	}
	if (error == 0) {
		error = posix_spawn(ret_pid, argv[0], &actions, &attributes, (char *const *)argv,
		                    environment ? environment : environ);
	}
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -error;
}

int child_run(const char *const *argv, char *const *environment, int seconds, struct child *ret_child)
{
	struct stream streams[2] = {{.pipe = {-1, -1}}, {.pipe = {-1, -1}}};
	int64_t end_ms = now_ms() + (int64_t)seconds * 1000;
	struct child child = {0};
	pid_t pid = -1;
	int status = 0, error = 0;

	for (int i = 0; i < 2 && error == 0; i++) {
		streams[i].text = malloc(CHILD_TEXT_MAX + 1);
		if (!streams[i].text) {
			error = -ENOMEM;
		} else if (pipe2(streams[i].pipe, O_CLOEXEC) < 0) {
			error = -errno;
		}
	}
	if (error == 0) {
		error = start(argv, environment, streams, &pid);
	}
	close_end(&streams[0], 1);
	close_end(&streams[1], 1);
	if (error == 0) {
		child.late = !listen_to(streams, end_ms) || !wait_for(pid, end_ms, &status);
		if (child.late) {
			(void)kill(-pid, SIGKILL);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
			}
		}
		child.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	for (int i = 0; i < 2; i++) {
		close_end(&streams[i], 0);
		if (error == 0) {
			streams[i].text[streams[i].size] = '\0';
		} else {
			free(streams[i].text);
		}
	}
	if (error == 0) {
		child.out = streams[0].text;
		child.err = streams[1].text;
		*ret_child = child;
	}
	return error;
}

void child_free(struct child *child)
{
	free(child->out);
	free(child->err);
}
