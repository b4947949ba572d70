/* SPDX-License-Identifier: MIT */
/*
 * jumper: a host that leaves its flow callback by longjmp, as others do by an exception, or ends its thread there
 *
 * usage: jumper LIBRARY jump|end
 *
 * The thread that did it ends, and its stack goes. What is compiled after that, on this thread and on others, watched
 * or not, must go on as without us.
 */
#include "tests/hosts/host.h"

#include <setjmp.h>

#define STACK ((size_t)256 << 20) /* too large for libc to keep: it is unmapped when its thread has ended */

static struct compiler compiler;
static nvrtcResult (*set_callback)(nvrtcProgram program, nvrtcFlow *callback, void *payload);
static _Thread_local jmp_buf back;
static bool ends;

static int leave(void *payload, void *reserved)
{
	if (ends) {
		pthread_exit(NULL);
	}
	longjmp(back, 1);
}

static int stop_once(void *payload, void *reserved)
{
	bool *stop = payload;
	bool now = *stop;

	*stop = false;
	return now;
}

static void *leaves(void *variant)
{
	nvrtcProgram program = host_create(&compiler, *(int *)variant);
	int state;

	(void)set_callback(program, leave, NULL);
	if (setjmp(back) == 0) {
		printf("came back with %d\n", host_build(&compiler, program, 0));
	}
	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	printf("left; can%s be cancelled\n", state == PTHREAD_CANCEL_ENABLE ? "" : "not");
	printf("digest %016llx\n", (unsigned long long)host_compile(&compiler, 4, 1));
	return NULL;
}

static void run(int variant)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&thread, &attributes, leaves, &variant) != 0) {
		exit(4);
	}
	(void)pthread_join(thread, NULL);
	(void)pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
	nvrtcProgram program;
	bool stop = true;

	if (argc != 3) {
		return 2;
	}
	ends = strcmp(argv[2], "end") == 0;
	host_open(argv[1], &compiler);
	set_callback = dlsym(compiler.handle, "nvrtcSetFlowCallback");
	printf("digest %016llx\n", (unsigned long long)host_compile(&compiler, 1, 0));
	run(1); /* whose result is known */
	run(2);
	/* What comes after a compile that was stopped is not watched. */
	program = host_create(&compiler, 3);
	(void)set_callback(program, stop_once, &stop);
	printf("stopped: %d\n", host_build(&compiler, program, 0));
	printf("again: %d\n", host_build(&compiler, program, 0));
	printf("digest %016llx\n", (unsigned long long)host_ask(&compiler, program));
	compiler.nvrtcDestroyProgram(&program);
	for (int variant = 4; variant < 7; variant++) {
		printf("digest %016llx\n", (unsigned long long)host_compile(&compiler, variant, 1));
	}
	return 0;
}
