/* SPDX-License-Identifier: MIT */
/*
 * forks: a host with one thread in the middle of a compile, or of keeping its result, while another thread forks
 *
 * usage: forks LIBRARY WHERE WHAT [PLACE]
 *
 * WHERE  compile, write, rename    where the thread stands (the last two with us and tests/hosts/pauser.c only)
 * WHAT   the child...
 *   use            asks a program of before the fork, compiles that one again and something new
 *   exit _exit killed abort        ends in this way
 *   exec           becomes this program as "descriptors"
 *   storm          forks a child in turn, which uses NVRTC
 *   vfork, spawn   vfork and exec, posix_spawn of the same
 *   daemon         is left alone by its parent, and forks once more; the grandchild uses NVRTC and writes PLACE
 *   handler        is made by a signal handler of the thread that stands in the middle, and goes on from there
 *        or there is none, and the main thread...
 *   exits _exits execs             ends the process in this way
 *   pthread_exit   leaves alone
 *   waiting        forks with fork handlers of the host that wait until the other thread is done
 *
 * Each line is the same with and without us, but for "compiles".
 */
#include "tests/files.h"
#include "tests/hosts/host.h"

#include <semaphore.h>
#include <spawn.h>

enum { BEFORE, SLOW, FRESH, GRAND };

extern char **environ;
static struct compiler compiler;
static char **arguments;
static const char *where, *what;
static sem_t inside, leave, landed;
static pthread_t slow_thread;
static nvrtcProgram before;
static volatile int gate_is_open; /* once somebody stands in it, it is for nobody else */
static volatile pid_t handled = -1;

static int is(const char *name)
{
	return strcmp(what, name) == 0;
}

static void stand(const char *here)
{
	if (strcmp(where, here) == 0 && !gate_is_open && pthread_equal(pthread_self(), slow_thread)) {
		gate_is_open = 1;
		sem_post(&inside);
		/* nobody tells a child that was made by a handler in here */
		while (handled != 0 && sem_trywait(&leave) != 0) {
			usleep(1000);
		}
	}
}

void fakeNvrtcGate(void)
{
	stand("compile");
}

void hostStoreGate(const char *here);
void hostStoreGate(const char *here)
{
	stand(here);
}

static void *compile_slowly(void *ret_digest)
{
	slow_thread = pthread_self();
	*(uint64_t *)ret_digest = host_compile(&compiler, SLOW, 0);
	sem_post(&landed);
	if (handled == 0) {
		_exit(*(uint64_t *)ret_digest != host_compile(&compiler, SLOW, 0));
	}
	if (is("pthread_exit")) {
		printf("slow %016llx\n", (unsigned long long)*(uint64_t *)ret_digest);
	}
	return NULL;
}

/* What a program of before says must be what the same compile gives again, here and in whoever made us. */
static int use(int variant)
{
	int result = 0;
	uint64_t digest = host_mix(host_ask(&compiler, before), &result, sizeof(result));

	return host_compile(&compiler, BEFORE, 0) != digest || host_compile(&compiler, variant, 1) == digest;
}

static void become(const char *mode)
{
	char *words[] = {arguments[0], arguments[1], (char *)"none", (char *)(uintptr_t)mode, NULL};

	execv("/proc/self/exe", words);
	_exit(9);
}

static pid_t spawn(void)
{
	char *words[] = {arguments[0], arguments[1], (char *)"none", (char *)"descriptors", NULL};
	pid_t child = -1;

	return posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0 ? child : -1;
}

static int wait_for(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
	}
	return status;
}

static void go_to_background(const char *place)
{
	FILE *file;

	setsid();
	if (fork() != 0) {
		_exit(0);
	}
	file = fopen(place, "w");
	fprintf(file, "daemon %d\n", use(GRAND));
	fclose(file);
	exit(0);
}

static void live(void)
{
	pid_t child;

	alarm(600);
	if (is("use")) {
		exit(use(FRESH));
	} else if (is("storm")) {
		int status = use(FRESH);

		child = fork();
		if (child == 0) {
			exit(use(GRAND));
		}
		exit(status + (wait_for(child) != 0));
	} else if (is("exit")) {
		exit(0);
	} else if (is("exec")) {
		become("descriptors");
	} else if (is("killed")) {
		pause();
	} else if (is("abort")) {
		signal(SIGABRT, SIG_DFL);
		abort();
	} else if (is("daemon")) {
		go_to_background(arguments[4]);
	}
	_exit(0);
}

static void fork_here(int number)
{
	handled = fork();
	if (handled == 0) {
		alarm(600);
	}
}

static void wait_until_landed(void)
{
	sem_post(&leave);
	sem_wait(&landed);
}

/* One way for the process to end while the other thread is where it is. */
static void end(void)
{
	fflush(stdout);
	if (is("exits")) {
		exit(0);
	} else if (is("_exits")) {
		_exit(0);
	} else if (is("execs")) {
		become("descriptors");
	} else if (is("pthread_exit")) {
		sem_post(&leave);
		pthread_exit(NULL);
	}
}

static int make_child(void)
{
	pid_t child;

	if (is("vfork")) {
		child = vfork();
		if (child == 0) {
			become("descriptors");
		}
	} else if (is("spawn")) {
		child = spawn();
	} else if (is("handler")) {
		if (strcmp(where, "none") == 0) {
			return 0;
		}
		pthread_kill(slow_thread, SIGUSR1);
		while (handled < 0) {
			usleep(1000);
		}
		child = handled;
	} else {
		child = fork();
		if (child == 0) {
			live();
		}
		if (is("killed")) {
			kill(child, SIGKILL);
		}
	}
	return child > 0 ? wait_for(child) : -1;
}

int main(int argc, char **argv)
{
	uint64_t digest = 0;
	pthread_t thread;

	if (argc < 4) {
		return 2;
	}
	arguments = argv;
	where = argv[2];
	what = argv[3];
	if (is("descriptors")) {
		printf("descriptors %d\n", descriptors_open());
		return 0;
	}
	alarm(600);
	printf("descriptors %d\n", descriptors_open());
	sem_init(&inside, 0, 0);
	sem_init(&leave, 0, 0);
	sem_init(&landed, 0, 0);
	if (is("waiting")) {
		pthread_atfork(wait_until_landed, NULL, NULL);
	}
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = fork_here}, NULL);
	host_open(argv[1], &compiler);
	before = host_create(&compiler, BEFORE);
	(void)host_build(&compiler, before, 0);
	fflush(stdout);
	slow_thread = pthread_self();
	pthread_create(&thread, NULL, compile_slowly, &digest);
	if (strcmp(where, "none") != 0) {
		sem_wait(&inside);
	}
	end();
	printf("child %d\n", make_child());
	sem_post(&leave);
	pthread_join(thread, NULL);
	printf("slow %016llx\n", (unsigned long long)digest);
	printf("again %d\n", host_compile(&compiler, SLOW, 0) == digest);
	printf("use %d\n", use(FRESH));
	printf("left %d\n", descriptors_open());
	printf("compiles %d\n", host_compiles(&compiler));
	return 0;
}
