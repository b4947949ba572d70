/* SPDX-License-Identifier: MIT */
/*
 * forker: a host that forks while other threads use the dynamic loader
 *
 * usage: forker LIBRARY MODULE held LOCK
 *        forker LIBRARY MODULE joined
 *        forker LIBRARY MODULE random WHAT CHILDREN SEED
 *
 * MODULE  is loaded and unloaded; its constructor calls forkerModuleLoads()
 * LOCK    write: another thread is in a callback of dl_iterate_phdr(); load: in the constructor of MODULE; none: in
 *         neither. Meanwhile the parent and then a child compile what was compiled before, and with none, the parent
 *         then says whether libnvrtc-builtins is loaded.
 *         changed: MODULE was loaded before another thread went into such a callback, and only a child compiles.
 * joined  The constructor of MODULE waits for a thread that compiles something new.
 * WHAT    at random moments, beside a thread that loads and unloads MODULE and one that creates and destroys programs:
 *         hit     children compile what was compiled before
 *         miss    children compile something new
 *
 * The source of the first compilation is the same in each process. Each child ends within LIMIT seconds or is killed by
 * SIGALRM. The program prints how many children hung, were ended by another signal, and had another result than their
 * parent.
 */
#include "tests/hosts/work.h"

#include <link.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { LIMIT = 100, KNOWN = 1, FRESH = 1000 };

struct ends {
	int hung, killed, wrong;
};

static const struct work_kind *compiler;
static const char *module;
static sem_t inside, leave;
static atomic_bool holding, joining, stopping;
static uint64_t fresh; /* what the constructor's thread made */

static void *compile_fresh(void *ret_digest)
{
	*(uint64_t *)ret_digest = compiler->work(FRESH);
	return NULL;
}

void forkerModuleLoads(void);
void forkerModuleLoads(void)
{
	pthread_t thread;

	if (atomic_exchange(&holding, false)) {
		sem_post(&inside);
		sem_wait(&leave);
	}
	if (atomic_exchange(&joining, false)) {
		pthread_create(&thread, NULL, compile_fresh, &fresh);
		pthread_join(thread, NULL);
	}
}

static int is_builtins(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	return strstr(info->dlpi_name, "libnvrtc-builtins") != NULL;
}

static int hold(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info;
	(void)size;
	(void)context;
	forkerModuleLoads();
	return 1;
}

static void load_module(void)
{
	void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);

	if (handle) {
		dlclose(handle);
	}
}

static void *hold_lock(void *lock)
{
	if (strcmp(lock, "none") == 0) {
		forkerModuleLoads();
	} else if (strcmp(lock, "load") == 0) {
		load_module();
	} else {
		dl_iterate_phdr(hold, NULL);
	}
	return NULL;
}

static void *load_often(void *unused)
{
	while (!atomic_load(&stopping)) {
		load_module();
	}
	return unused;
}

static void *create_often(void *unused)
{
	while (compiler->create && !atomic_load(&stopping)) {
		compiler->create();
	}
	return unused;
}

static void fork_one(int variant, uint64_t expected, struct ends *ends)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		uint64_t digest;

		alarm(LIMIT);
		digest = compiler->work(variant);
		_exit(variant == KNOWN ? digest != expected : digest == expected);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		ends->hung++;
	} else if (WIFSIGNALED(status)) {
		ends->killed++;
	} else if (status != 0) {
		ends->wrong++;
	}
}

static void run_held(const char *lock, uint64_t expected, struct ends *ends)
{
	bool is_changed = strcmp(lock, "changed") == 0;
	pthread_t thread;

	if (is_changed) {
		(void)dlopen(module, RTLD_NOW | RTLD_LOCAL);
	}
	atomic_store(&holding, true);
	pthread_create(&thread, NULL, hold_lock, (void *)(uintptr_t)lock);
	sem_wait(&inside);
	if (!is_changed) {
		printf("parent %d\n", compiler->work(KNOWN) == expected);
		fflush(stdout);
	}
	fork_one(KNOWN, expected, ends);
	sem_post(&leave);
	pthread_join(thread, NULL);
	if (strcmp(lock, "none") == 0) {
		printf("builtins %d\n", dl_iterate_phdr(is_builtins, NULL));
	}
}

static void run_random(char **arguments, uint64_t expected, struct ends *ends)
{
	bool is_hit = strcmp(arguments[0], "hit") == 0;
	int count = atoi(arguments[1]);
	pthread_t threads[2];

	srand((unsigned)atoi(arguments[2]));
	pthread_create(&threads[0], NULL, load_often, NULL);
	pthread_create(&threads[1], NULL, create_often, NULL);
	for (int i = 0; i < count && ends->hung < 3; i++) {
		usleep((useconds_t)(rand() % 3000));
		fork_one(is_hit ? KNOWN : FRESH + 8 * (atoi(arguments[2]) * count + i), expected, ends);
	}
	atomic_store(&stopping, true);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
	struct ends ends = {0};
	uint64_t expected;

	if (argc < 4 || (strcmp(argv[3], "joined") != 0 && argc < 5) || (strcmp(argv[3], "random") == 0 && argc < 7)) {
		return 2;
	}
	alarm(600);
	module = argv[2];
	sem_init(&inside, 0, 0);
	sem_init(&leave, 0, 0);
	compiler = work_open(argv[1]);
	expected = compiler->work(KNOWN);
	if (strcmp(argv[3], "joined") == 0) {
		alarm(LIMIT);
		atomic_store(&joining, true);
		load_module();
		printf("made %d\n", fresh != 0 && fresh != expected);
	} else if (strcmp(argv[3], "held") == 0) {
		alarm(LIMIT * 2);
		run_held(argv[4], expected, &ends);
	} else {
		run_random(argv + 4, expected, &ends);
	}
	printf("hung %d, killed %d, wrong %d\n", ends.hung, ends.killed, ends.wrong);
	return 0;
}
