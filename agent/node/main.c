/* SPDX-License-Identifier: MIT */
/*
 * main: nvrtccache-agent
 *
 *   options, settings, engine, socket --> [program forked, held until the bundle is there] --> workers --> conversation
 *   --signal or end of the program--> socket removed --> queue drained --> agent ends as the program did
 */
#include "agent/node/arguments.h"
#include "agent/node/conversation.h"
#include "agent/node/launch.h"
#include "cache/version.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DRAIN_NS    (INT64_C(10) * 1000000000)
#define HEED_NS     (INT64_C(500) * 1000000)
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

/* Adds a signal to the set, unless it is ignored since the start; then it stays ignored. */
static void add_signal(sigset_t *set, int number)
{
	struct sigaction found;

	if (sigaction(number, NULL, &found) == 0 && found.sa_handler != SIG_IGN) {
		sigaddset(set, number);
	}
}

/* Returns whether a signal is forwarded. Job control signals and those for faults of this process are not. */
static bool is_for_programs(int number)
{
	static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD,
	                             SIGILL,  SIGTRAP, SIGBUS,  SIGFPE,  SIGSEGV, SIGSYS};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (number == others[i]) {
			return false;
		}
	}
	return true;
}

/* Returns a signalfd, so that signals are handled between messages, or -1. */
static int watch_signals(bool has_program)
{
	static const int of_ours[] = {SIGTERM, SIGINT, SIGHUP};
	const struct sigaction preset = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(of_ours) / sizeof(of_ours[0]); i++) {
		add_signal(&set, of_ours[i]);
	}
	for (int i = 1; has_program && i <= SIGRTMAX; i++) {
		if (is_for_programs(i)) {
			add_signal(&set, i);
		}
	}
	if (has_program) {
		(void)sigaction(SIGCHLD, &preset, NULL);
		sigaddset(&set, SIGCHLD);
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	launch_ignore_writes();
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
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

/* Uploads the results that were reported. Processes that ask meanwhile get no answer and compile. */
static enum service_thread wind_up(struct service *service, struct fetch *fetch, struct upload *upload)
{
	enum service_thread uploaded = upload_end(upload, service_now_ns() + DRAIN_NS);
	int64_t until_ns = service_now_ns() + (uploaded == SERVICE_JOINED ? QUESTION_NS : 0);

	if (fetch_end(fetch, until_ns) != SERVICE_JOINED || uploaded != SERVICE_JOINED) {
		service_say("exiting while the engine has not answered");
		return SERVICE_LEFT;
	}
	service_end(service);
	return SERVICE_JOINED;
}

/* A worker calls this, which is allowed because launch_release() may be called from any thread. */
static void begin_program(void *launch)
{
	launch_release(launch);
}

static int64_t heeded_from_ns;

static void end_at_once(int number)
{
	if (service_now_ns() >= heeded_from_ns) {
		(void)signal(number, SIG_DFL);
		(void)raise(number);
	}
}

/*
 * From now on a termination signal ends the agent at once. Signals within HEED_NS are ignored, because timeout(1) sends
 * its signal to the process and then again to its group.
 */
static void heed_signals(void)
{
	static const int numbers[] = {SIGTERM, SIGINT};
	struct sigaction action = {.sa_handler = end_at_once, .sa_flags = SA_RESTART};
	sigset_t set;

	heeded_from_ns = service_now_ns() + HEED_NS;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction found;

		if (sigaction(numbers[i], NULL, &found) == 0 && found.sa_handler != SIG_IGN) {
			(void)sigaction(numbers[i], &action, NULL);
		}
		sigaddset(&set, numbers[i]);
	}
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
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

/* The program is forked before any thread is created, and the agent changes its directory only after that. */
static int serve_node(struct service *service, struct listener *listener, struct launch *launch, char **program)
{
	struct conversation conversation = {.service = service, .listener = listener, .launch = launch};
	void (*leave)(int) = exit;
	int error = 0;

	conversation.signals = watch_signals(program != NULL);
	if (conversation.signals < 0) {
		error = -errno;
	}
	if (error == 0 && program != NULL) {
		error =
		    tell_program(listener->path, service->settings.directory) ? launch_start(launch, program) : -ENOMEM;
	}
	if (error != 0) {
		service_say("%s", strerror(-error));
		listener_close(listener);
		service_end(service);
		return without_agent(launch, program);
	}
	if (service->options.bundle == NULL) {
		launch_release(launch);
	}
	set_limits();
	(void)!chdir("/");
	if (program == NULL) {
		say_begun(service, listener);
	}
	if (!fetch_begin(service, begin_program, launch, &conversation.fetch) ||
	    !upload_begin(service, &conversation.upload)) {
		error = -EAGAIN; /* a message was printed */
	} else {
		error = conversation_run(&conversation);
	}
	/* after an error the program continues without an agent, which waits here for its end */
	listener_close(listener);
	launch_release(launch);
	while (program != NULL && !launch->ended) {
		struct signalfd_siginfo signal;
		struct pollfd waiting = {.fd = conversation.signals, .events = POLLIN};

		if (poll(&waiting, 1, -1) > 0 && read(conversation.signals, &signal, sizeof(signal)) > 0) {
			(void)launch_signal(launch, &signal);
		}
	}
	heed_signals();
	if (wind_up(service, conversation.fetch, conversation.upload) == SERVICE_LEFT) {
		leave = _exit;
	}
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

	fill_standard_streams();
	if (arguments_read(argc, argv, &options) != ARGUMENTS_FINE) {
		return EXIT_USAGE;
	}
	if (options.mode == ARGUMENTS_HELP) {
		arguments_help();
	} else if (options.mode == ARGUMENTS_VERSION) {
		puts("nvrtccache-agent " NVRTCCACHE_VERSION);
	} else if (options.mode == ARGUMENTS_PUT_BUNDLE) {
		return command_put_bundle(&options.service, options.bundle);
	} else if (options.mode == ARGUMENTS_GET_BUNDLE) {
		return command_get_bundle(&options.service, options.bundle);
	} else if (!read_settings(&options, &settings)) {
		launch_remember(&launch);
		return without_agent(&launch, options.program);
	} else if (options.mode == ARGUMENTS_STATUS) {
		int status = command_status(&settings, asked_socket(&options, &settings), options.json);

		settings_free(&settings);
		return status;
	} else {
		return begin_service(&options, &settings);
	}
	return fflush(stdout) == 0 ? EXIT_DONE : EXIT_TROUBLE;
}
