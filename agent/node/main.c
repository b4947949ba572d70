/* SPDX-License-Identifier: MIT */
/*
 * main: nvrtccache-agent
 *
 *   options, settings, engine, socket --> [program forked] --> workers --> server
 *   --signal or end of the program--> socket removed --> queue drained --> agent ends as the program did
 */
#include "agent/node/arguments.h"
#include "agent/node/server.h"
#include "agent/node/status.h"
#include "cache/version.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DRAIN_NS    (INT64_C(10) * 1000000000)
#define HEED_NS     (INT64_C(500) * 1000000)
#define TURN_NS     (INT64_C(100) * 1000000)
#define QUESTION_NS (INT64_C(2500) * 1000000) /* the longest request of a worker, and a margin */

enum { EXIT_DONE = 0, EXIT_TROUBLE = 1, EXIT_USAGE = 2 };

static const char *get_variable(const char *name)
{
	return getenv(name);
}

static void say_unknown(const char *name, size_t size, const char *suggestion, void *context)
{
	(void)context;
	service_say("%.*s: unknown variable%s", (int)size, name, suggestion);
}

/*
 * Returns the socket that --status connects to: that of NVRTCCACHE_AGENT, as for programs, unless an option names the
 * socket or the directory. NULL: the socket in the directory.
 */
static const char *asked_socket(const struct arguments *options, const struct settings *settings)
{
	return options->service.socket != NULL || options->directory != NULL ? options->service.socket
	                                                                     : settings->agent;
}

/* Returns whether the mode needs a cache directory: --status with the path of a socket does not. */
static bool needs_directory(const struct arguments *options, const struct settings *settings)
{
	const char *socket = asked_socket(options, settings);

	return options->mode != ARGUMENTS_STATUS || socket == NULL || socket[0] != '/';
}

/* Returns false after a message. */
static bool read_settings(const struct arguments *options, struct settings *ret_settings)
{
	if (options->directory != NULL && setenv("NVRTCCACHE_DIR", options->directory, 1) != 0) {
		service_say("out of memory");
		return false;
	}
	if (settings_read(get_variable, ret_settings) != 0) {
		service_say("out of memory");
		return false;
	}
	for (int i = 0; i < ret_settings->complaint_count; i++) {
		service_say("%s: bad value: it takes %s", ret_settings->complaints[i],
		            settings_wanted(ret_settings->complaints[i]));
	}
	settings_each_unknown(environ, say_unknown, NULL);
	if (ret_settings->directory == NULL && needs_directory(options, ret_settings)) {
		service_say("no cache directory: --dir is missing, and none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME "
		            "is an absolute path");
	} else if (ret_settings->read_only && options->mode == ARGUMENTS_SERVE) {
		service_say("%s: the agent must write to it, but NVRTCCACHE_READONLY is set", ret_settings->directory);
	} else {
		return true;
	}
	settings_free(ret_settings);
	return false;
}

/*
 * Raises the limit of descriptors, because each connection needs one. Disables core files, which would contain keys and
 * passwords: the limit is 1 and not 0, because a limit of 1 also disables a core pipe.
 */
static void set_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (getrlimit(RLIMIT_CORE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max < 1 ? limit.rlim_max : 1;
		(void)setrlimit(RLIMIT_CORE, &limit);
	}
}

/* Sets the variables for the program. Paths are absolute, because the program may change its directory. */
static bool tell_program(const char *socket, const char *directory)
{
	if (setenv("NVRTCCACHE_AGENT", socket, 1) == 0 && setenv("NVRTCCACHE_DIR", directory, 1) == 0) {
		return true;
	}
	service_say("out of memory");
	return false;
}

static void say_begun(const struct service *service, const struct listener *listener)
{
	service_say("serves %s at %s", service->settings.directory, listener->path);
	service_say("engine: %s; %s", service->says,
	            service->options.writes == SERVICE_WRITES ? "reads and writes" : "reads only");
}

/*
 * Waits for the upload thread. A second SIGTERM or SIGINT ends the agent at once, but not within HEED_NS, because
 * timeout(1) sends its signal to the process and then again to its group.
 */
static bool wait_for_uploads(struct upload *upload, int signals)
{
	int64_t began_ns = service_now_ns();
	struct signalfd_siginfo signal;

	upload_drain(upload, began_ns + DRAIN_NS);
	while (!upload_end(upload, service_now_ns() + TURN_NS)) {
		bool is_signalled = read(signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal) &&
		                    (signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGINT);

		if (is_signalled && service_now_ns() - began_ns > HEED_NS) {
			_exit(128 + (int)signal.ssi_signo);
		}
		if (service_now_ns() - began_ns > DRAIN_NS + TURN_NS) {
			return false;
		}
	}
	return true;
}

/* Uploads the results that were reported. Processes that ask meanwhile get no answer and compile. */
static bool wind_up(const struct server *server)
{
	if (!wait_for_uploads(server->upload, server->signals) ||
	    !fetch_end(server->fetch, service_now_ns() + QUESTION_NS)) {
		service_say("exiting while the engine has not answered");
		return false;
	}
	service_end(server->service);
	return true;
}

/* Runs the program without an agent, because problems with the cache must not prevent it from running. */
static int without_agent(const struct launch *launch, char **program)
{
	if (program == NULL) {
		return EXIT_TROUBLE;
	}
	service_say("running the program without an agent");
	return launch_become(launch, program);
}

/* Forks the program before any thread is created. The agent changes its directory only after that. */
static int start_program(struct server *server, char **program)
{
	server->signals = launch_watch(program != NULL);
	if (server->signals < 0) {
		return -errno;
	}
	if (program == NULL) {
		return 0;
	}
	return tell_program(server->listener->path, server->service->settings.directory)
	           ? launch_start(server->launch, program)
	           : -ENOMEM;
}

/* After an error of the agent, the program continues without it. */
static void wait_for_program(const struct server *server)
{
	while (server->launch->child != 0 && !server->launch->has_ended) {
		struct signalfd_siginfo signal;
		struct pollfd waiting = {.fd = server->signals, .events = POLLIN};

		if (poll(&waiting, 1, -1) > 0 && read(server->signals, &signal, sizeof(signal)) > 0) {
			(void)launch_signal(server->launch, &signal);
		}
	}
}

static int serve_node(struct service *service, struct listener *listener, struct launch *launch, char **program)
{
	struct server server = {.service = service, .listener = listener, .launch = launch};
	void (*leave)(int);
	int error = start_program(&server, program);

	if (error != 0) {
		service_say("%s", strerror(-error));
		listener_close(listener);
		service_end(service);
		return without_agent(launch, program);
	}
	set_limits();
	(void)!chdir("/");
	if (program == NULL) {
		say_begun(service, listener);
	}
	error =
	    upload_begin(service, &server.upload) && fetch_begin(service, server.upload, listener->path, &server.fetch)
	        ? server_run(&server)
	        : -EAGAIN; /* a message was printed */
	listener_close(listener);
	wait_for_program(&server);
	leave = wind_up(&server) ? exit : _exit;
	if (program != NULL) {
		launch_finish(launch, leave);
	}
	leave(error == 0 ? EXIT_DONE : EXIT_TROUBLE);
	return EXIT_TROUBLE; /* not reached */
}

/* If another agent uses the socket, the program uses that agent, and this process executes the program. */
static int begin_service(const struct arguments *options, struct settings *settings)
{
	char text[LISTENER_TEXT_MAX];
	struct listener listener;
	struct service service;
	struct launch launch;
	char **program = options->program;
	int error;

	launch_remember(&launch);
	if (!service_begin(&service, &options->service, settings)) {
		return program != NULL ? LAUNCH_NOT_STARTED : EXIT_TROUBLE;
	}
	error = listener_open(&service.directory, options->service.socket, &listener, text);
	if (error == 0) {
		return serve_node(&service, &listener, &launch, program);
	}
	service_say("%s%s", text, error == -EBUSY && program != NULL ? "; the program uses that agent" : "");
	if (error == -EBUSY && program != NULL &&
	    listener_path(service.directory.path, options->service.socket, listener.path) == 0 &&
	    tell_program(listener.path, service.settings.directory)) {
		return launch_become(&launch, program);
	}
	service_end(&service);
	return without_agent(&launch, program);
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
	if (file >= 0) {
		close(file);
	}
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct arguments options;
	struct launch launch;
	int status = EXIT_DONE;

	fill_standard_streams();
	if (!arguments_read(argc, argv, &options)) {
		return EXIT_USAGE;
	}
	if (options.mode == ARGUMENTS_HELP) {
		arguments_help();
	} else if (options.mode == ARGUMENTS_VERSION) {
		puts("nvrtccache-agent " NVRTCCACHE_VERSION);
	} else if (!read_settings(&options, &settings)) {
		launch_remember(&launch);
		return without_agent(&launch, options.program);
	} else if (options.mode == ARGUMENTS_STATUS) {
		status = command_status(&settings, asked_socket(&options, &settings), options.json);
		settings_free(&settings);
	} else {
		return begin_service(&options, &settings);
	}
	return fflush(stdout) == 0 ? status : EXIT_TROUBLE;
}
