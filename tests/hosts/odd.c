/* SPDX-License-Identifier: MIT */
/*
 * odd: a host under conditions that its user, its shell or its batch system made
 *
 * usage: odd REPORT-DESCRIPTOR LIBRARY PLAN      PLAN: words, done in their order:
 *   umask=OCTAL  fsize=N  nofile=N  core=N  as=MIB-MORE  close=N  open=N (that many more)  beyond (closes all above 2)
 *   effective=UID (alone)  block=SIGNAL  ignore=SIGNAL  user=UID (and group)  compile=VARIANT  errno=N  burst=N (one
 * compile after the other) timer=US (SIGALRM so often, to a handler) deny=N (the kernel refuses call N of `denied` below
 * from now on, with EPERM) fork (the rest in a child, whose end is told)  exit=N  _exit=N  term  kill  unlimit (fsize,
 * soft)
 *
 * Tells what it saw, one line for each compile: its digest, and what of the process is not as it was before the
 * compile (errno, umask, limits, blocked and pending signals, handlers, descriptors, directory). Whatever it says must
 * be what it says without the cache.
 */
#include "tests/files.h"
#include "tests/hosts/host.h"

#include <grp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#define DESCRIPTORS 1024

static int report;
static struct compiler compiler;

static void tell(const char *format, ...)
{
	char line[512];
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	(void)!write(report, line, (size_t)size);
}

static const int limits[] = {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_STACK};
#define LIMITS (sizeof(limits) / sizeof(limits[0]))

struct world {
	mode_t mask;
	struct rlimit limit[LIMITS];
	sigset_t blocked;
	sigset_t pending;
	void (*handler[32])(int);
	int flags[32];
	unsigned char open[DESCRIPTORS];
	char directory[512];
};

static void look(struct world *world)
{
	memset(world, 0, sizeof(*world));
	world->mask = umask(0);
	(void)umask(world->mask);
	for (size_t i = 0; i < LIMITS; i++) {
		(void)getrlimit(limits[i], &world->limit[i]);
	}
	(void)sigprocmask(SIG_BLOCK, NULL, &world->blocked);
	(void)sigpending(&world->pending);
	for (int i = 1; i < 32; i++) {
		struct sigaction action = {.sa_flags = 0};

		(void)sigaction(i, NULL, &action);
		world->handler[i] = action.sa_handler;
		world->flags[i] = action.sa_flags;
	}
	for (int i = 0; i < DESCRIPTORS; i++) {
		world->open[i] = fcntl(i, F_GETFD) >= 0;
	}
	if (getcwd(world->directory, sizeof(world->directory)) == NULL) {
		world->directory[0] = '\0';
	}
}

static const char *difference(const struct world *a, const struct world *b)
{
	return a->mask != b->mask                                              ? " umask"
	       : memcmp(a->limit, b->limit, sizeof(a->limit)) != 0             ? " limits"
	       : memcmp(&a->blocked, &b->blocked, sizeof(a->blocked)) != 0     ? " blocked"
	       : memcmp(&a->pending, &b->pending, sizeof(a->pending)) != 0     ? " pending"
	       : memcmp(a->handler, b->handler, sizeof(a->handler)) != 0       ? " handlers"
	       : memcmp(a->flags, b->flags, sizeof(a->flags)) != 0             ? " flags"
	       : memcmp(a->open, b->open, sizeof(a->open)) != 0                ? " descriptors"
	       : memcmp(a->directory, b->directory, sizeof(a->directory)) != 0 ? " directory"
	                                                                       : "";
}

static void compile(int variant, int kept_errno)
{
	static struct world before, after;
	uint64_t digest;
	int left;

	look(&before);
	errno = kept_errno;
	digest = host_compile(&compiler, variant, variant);
	left = errno;
	look(&after);
	tell("%d: %016llx%s%s\n", variant, (unsigned long long)digest, difference(&before, &after),
	     left != kept_errno ? " errno" : "");
}

static void limit(int which, rlim_t soft)
{
	struct rlimit found;

	(void)getrlimit(which, &found);
	found.rlim_cur = soft < found.rlim_max ? soft : found.rlim_max;
	(void)setrlimit(which, &found);
}

static void block(int signal_number)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal_number);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The rest is the child's. */
static void fork_on(void)
{
	int status = -1;
	pid_t child = fork();

	if (child != 0) {
		(void)waitpid(child, &status, 0);
		tell("child %d %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		     WIFEXITED(status) ? WEXITSTATUS(status) : 0);
		exit(0);
	}
}

static void no_more(int signal_number)
{
}

/* As a profiler's: calls that wait are cut short. */
static void start_timer(long us)
{
	struct sigaction action = {.sa_handler = no_more};
	const struct itimerval often = {{0, us}, {0, us}};

	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
}

static const int denied[] = {SYS_socket, SYS_connect, SYS_getsockopt, SYS_sendmsg, SYS_recvmsg, SYS_ppoll};

/* As a sandbox's. Where no filters are allowed, nothing is refused. */
static void deny(long which)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)denied[which], 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		tell("not denied\n");
	}
}

static void close_beyond(void)
{
	for (int i = 3; i < DESCRIPTORS; i++) {
		if (i != report) {
			(void)close(i);
		}
	}
}

static void act(const char *word, long value, const char *library)
{
	static int kept_errno = 7;

	if (strcmp(word, "umask") == 0) {
		(void)umask((mode_t)value);
	} else if (strcmp(word, "fsize") == 0) {
		limit(RLIMIT_FSIZE, (rlim_t)value);
	} else if (strcmp(word, "unlimit") == 0) {
		limit(RLIMIT_FSIZE, RLIM_INFINITY);
	} else if (strcmp(word, "nofile") == 0) {
		limit(RLIMIT_NOFILE, (rlim_t)value);
	} else if (strcmp(word, "core") == 0) {
		limit(RLIMIT_CORE, (rlim_t)value);
	} else if (strcmp(word, "as") == 0) {
		limit(RLIMIT_AS,
		      (rlim_t)(pages_of_process(PAGES_MAPPED) * sysconf(_SC_PAGESIZE)) + ((rlim_t)value << 20));
	} else if (strcmp(word, "close") == 0) {
		(void)close((int)value);
	} else if (strcmp(word, "open") == 0) {
		while (value-- > 0 && open("/dev/null", O_RDONLY) >= 0) {
		}
	} else if (strcmp(word, "beyond") == 0) {
		close_beyond();
	} else if (strcmp(word, "block") == 0) {
		block((int)value);
	} else if (strcmp(word, "ignore") == 0) {
		(void)signal((int)value, SIG_IGN);
	} else if (strcmp(word, "timer") == 0) {
		start_timer(value);
	} else if (strcmp(word, "deny") == 0) {
		deny(value);
	} else if (strcmp(word, "user") == 0) {
		if (setgroups(0, NULL) != 0 || setgid((gid_t)value) != 0 || setuid((uid_t)value) != 0) {
			tell("cannot be %ld\n", value);
		}
	} else if (strcmp(word, "effective") == 0) {
		if (seteuid((uid_t)value) != 0) {
			tell("cannot act as %ld\n", value);
		}
	} else if (strcmp(word, "errno") == 0) {
		kept_errno = (int)value;
	} else if (strcmp(word, "load") == 0) {
		host_open(library, &compiler);
	} else if (strcmp(word, "compile") == 0) {
		compile((int)value, kept_errno);
	} else if (strcmp(word, "burst") == 0) {
		for (long i = 0; i < value; i++) {
			(void)host_compile(&compiler, 0, 0);
		}
	} else if (strcmp(word, "fork") == 0) {
		fork_on();
	} else if (strcmp(word, "exit") == 0) {
		exit((int)value);
	} else if (strcmp(word, "_exit") == 0) {
		_exit((int)value);
	} else if (strcmp(word, "term") == 0) {
		(void)kill(getpid(), SIGTERM);
	} else if (strcmp(word, "kill") == 0) {
		(void)kill(getpid(), SIGKILL);
	} else {
		tell("what is %s?\n", word);
		exit(9);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: odd REPORT-DESCRIPTOR LIBRARY PLAN\n");
		return 2;
	}
	/* high up, and away from what is closed and opened below */
	report = fcntl(atoi(argv[1]), F_DUPFD_CLOEXEC, 1000);
	if (report < 0) {
		return 2;
	}
	(void)close(atoi(argv[1]));
	for (int i = 3; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (value) {
			*value++ = '\0';
		}
		act(argv[i], value ? strtol(value, NULL, strcmp(argv[i], "umask") == 0 ? 8 : 10) : 0, argv[2]);
	}
	return 0;
}
