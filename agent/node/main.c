/* SPDX-License-Identifier: MIT */
/*
 * main: nvrtccache-agent
 *
 *   options, settings, engine, socket --> [program forked] --> threads
 *   --signal or end of the program--> socket removed --> queue drained --> agent ends with the program's status
 */
#include "agent/node/arguments.h"
#include "agent/node/server.h"
#include "agent/node/status.h"
#include "cache/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAIN_S   10
#define SETTLE_NS (INT64_C(1) * 1000000000)
#define LOOK_S    2 /* interval of looks whether the socket stands */

/* With a program, the values of env(1) and timeout(1). */
enum {
	EXIT_DONE = 0,
	EXIT_TROUBLE = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_STARTED = 125,
	EXIT_NOT_RUNNABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128 /* and the number of the signal that ended the program */
};

/*
 * Returns the socket that --status connects to: that of NVRTCCACHE_AGENT, as for programs, unless an option names the
 * socket or the directory. NULL: the socket in the directory.
 */
static const char *asked_socket(const struct arguments *options, const struct settings *settings)
{
	return options->service.socket != NULL || options->directory != NULL ? options->service.socket
	                                                                     : settings->agent;
}

/* Returns false after a message. --status needs no directory if it has the path of a socket. */
static bool read_settings(const struct arguments *options, struct settings *ret_settings)
{
	if ((options->directory != NULL && setenv("NVRTCCACHE_DIR", options->directory, 1) != 0) ||
	    settings_read(getenv, ret_settings) != 0) {
		service_say("out of memory");
		return false;
	}
	for (int i = 0; i < ret_settings->complaint_count; i++) {
		service_say("%s: bad value: it takes %s", ret_settings->complaints[i],
		            settings_wanted(ret_settings->complaints[i]));
	}
	if (options->mode == ARGUMENTS_STATUS) {
		return true;
	}
	if (ret_settings->directory == NULL) {
		service_say("no cache directory: --dir is missing, and none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME "
		            "is an absolute path");
	} else if (ret_settings->read_only) {
		service_say("%s: the agent must write to it, but NVRTCCACHE_READONLY is set", ret_settings->directory);
	} else {
		return true;
	}
	return false;
}

/*
 * Sets the variables for the program. Paths are absolute, because the program may change its directory. Without memory
 * the program does not ask.
 */
static void tell_program(const char *socket, const char *directory)
{
	(void)setenv("NVRTCCACHE_AGENT", socket, 1);
	(void)setenv("NVRTCCACHE_DIR", directory, 1);
}

/* Executes the program in this process. Returns the exit status if that fails. */
static int become_program(char **program)
{
	int error;

	execvp(program[0], program);
	error = errno;
	service_say("%s: %s", program[0], strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

/* Runs the program without an agent, because problems with the cache must not prevent it from running. */
static int without_agent(char **program)
{
	if (program == NULL) {
		return EXIT_TROUBLE;
	}
	service_say("running the program without an agent");
	return become_program(program);
}

/* Collects the signals that the agent waits for. Those that were ignored when it was started stay ignored. */
static void collect_signals(sigset_t *ret_set)
{
	static const int ending[] = {SIGTERM, SIGINT, SIGHUP};

	sigemptyset(ret_set);
	sigaddset(ret_set, SIGCHLD);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		struct sigaction found;

		if (sigaction(ending[i], NULL, &found) == 0 && found.sa_handler != SIG_IGN) {
			sigaddset(ret_set, ending[i]);
		}
	}
}

/* Forks the program before this process has threads, and before its directory, signals and limits change. */
static pid_t start_program(char **program, const sigset_t *signals)
{
	sigset_t before;
	void (*on_end)(int) = signal(SIGCHLD, SIG_DFL); /* if it is ignored, a child's status is lost */
	pid_t child = 0;

	pthread_sigmask(SIG_BLOCK, signals, &before);
	if (program != NULL) {
		child = fork();
	}
	if (child == 0 && program != NULL) {
		(void)signal(SIGCHLD, on_end);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		_exit(become_program(program));
	}
	return child;
}

/* No core file of the agent, which would contain keys and passwords: a limit of 1 also disables a core pipe. */
static void settle_process(void)
{
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){.rlim_cur = 1, .rlim_max = 1});
	/* writes to closed pipes or beyond RLIMIT_FSIZE fail with an errno value, which is reported */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)!chdir("/");
}

/* Returns the exit status of the child; -1: it runs. Waits for any: the first process of a container has orphans. */
static int reap_children(pid_t child)
{
	int result = -1, status;
	pid_t gone;

	while ((gone = waitpid(-1, &status, WNOHANG)) > 0) {
		if (gone == child) {
			result = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
		}
	}
	return result;
}

/* Serves until a signal or the end of the program. A terminal's signals are not forwarded: the program has them. */
static int wait_for_end(const struct listener *listener, const sigset_t *signals, pid_t child)
{
	const struct timespec turn = {.tv_sec = LOOK_S};
	siginfo_t signal;

	for (;;) {
		int number = sigtimedwait(signals, &signal, &turn);
		int status = reap_children(child);

		if (status >= 0) {
			return status;
		}
		if (number > 0 && number != SIGCHLD) {
			if (child == 0) {
				return EXIT_DONE;
			}
			if (signal.si_code <= 0) { /* from a process */
				(void)kill(child, number);
			}
		}
		if (child == 0 && !listener_stands(listener)) {
			service_say("%s: the socket was removed", listener->path);
			return EXIT_TROUBLE;
		}
	}
}

/* Processes that ask during the last uploads find no socket and compile. */
static int serve_node(struct service *service, struct listener *listener, char **program)
{
	struct server server = {.service = service, .listener = listener};
	int status = EXIT_TROUBLE;
	bool uploads;
	sigset_t signals;
	pid_t child;

	collect_signals(&signals);
	tell_program(listener->path, service->settings.directory);
	child = start_program(program, &signals);
	if (child < 0) {
		listener_close(listener);
		return without_agent(program);
	}
	settle_process();
	if (program == NULL) {
		service_say("serves %s at %s", service->settings.directory, listener->path);
	}
	uploads = upload_begin(&server.upload, service);
	if ((uploads && server_begin(&server)) || child > 0) {
		status = wait_for_end(listener, &signals, child);
	}
	server_settle(&server, call_clock_straight() + SETTLE_NS);
	listener_close(listener);
	if (uploads && !upload_end(&server.upload, DRAIN_S)) {
		service_say("exiting while the engine has not answered");
	}
	/* and not exit(): threads may still use the service, and be in a library that exit() would close */
	fflush(NULL);
	_exit(status);
}

/* If another agent uses the socket, the program uses that agent, and this process executes the program. */
static int begin_service(const struct arguments *options, struct settings *settings)
{
	static struct listener listener; /* the threads use both until the end of the process */
	static struct service service;
	char **program = options->program;
	int error;

	if (!service_begin(&service, &options->service, settings)) {
		return program != NULL ? EXIT_NOT_STARTED : EXIT_TROUBLE;
	}
	error = listener_open(&service.directory, options->service.socket, &listener);
	if (error == 0) {
		return serve_node(&service, &listener, program);
	}
	if (error == -EBUSY && program != NULL) {
		tell_program(listener.path, service.settings.directory);
		service_say("the program uses that agent");
		return become_program(program);
	}
	return without_agent(program);
}

/*
 * Opens the closed ones among descriptors 0 to 2, because messages would otherwise be written to the file that gets
 * descriptor 2. O_CLOEXEC closes them again for the program.
 */
static void fill_standard_streams(void)
{
	int file;

	do {
		file = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (file >= 0 && file <= STDERR_FILENO);
	close(file);
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct arguments options;

	fill_standard_streams();
	if (!arguments_read(argc, argv, &options)) {
		return EXIT_USAGE;
	}
	if (!read_settings(&options, &settings)) {
		return without_agent(options.program);
	}
	return options.mode == ARGUMENTS_STATUS
	           ? command_status(&settings, asked_socket(&options, &settings), options.form)
	           : begin_service(&options, &settings);
}
