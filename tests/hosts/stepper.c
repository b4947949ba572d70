/* SPDX-License-Identifier: MIT */
/*
 * stepper: a host that is interrupted after the instructions of a getter, NVRTC's and whatever stands before it
 *
 * usage: stepper LIBRARY ask|jump|cancel|fork
 *
 * There a signal handler asks for the same things, leaves by siglongjmp, has its thread cancelled, or makes a child
 * that runs no fork handlers and asks. Getters of NVRTC take no lock, so whoever asks then gets what it always gets.
 */
#include "tests/hosts/host.h"

#include <setjmp.h>

#ifndef __x86_64__
int main(void)
{
	printf("steps only on x86_64\n");
	return 77;
}
#else

#define SECONDS 600 /* until it is taken to hang */
#define STRIDE  5

static struct compiler compiler;
static nvrtcProgram program;
static uint64_t expected;
static enum { ASK, JUMP, CANCEL, FORK } what;
static sigjmp_buf back;
static long steps, last; /* how many there were, and the one to end at */
static bool wrong;

/* The trap flag: SIGTRAP after each instruction; handlers run without it. */
static inline __attribute__((always_inline)) void step(bool on)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\torq %0, (%%rsp)\n\tpopfq\n\t"
	                 "lea 128(%%rsp), %%rsp"
	                 :
	                 : "r"(on ? 0x100L : 0L)
	                 : "memory", "cc");
}

/* Nothing of this takes a lock. Each getter in turn, and only it, is stepped through. */
static uint64_t ask(bool stepping)
{
	nvrtcResult (*sizes[])(nvrtcProgram, size_t *) = {compiler.nvrtcGetPTXSize, compiler.nvrtcGetProgramLogSize};
	nvrtcResult (*getters[])(nvrtcProgram, char *) = {compiler.nvrtcGetPTX, compiler.nvrtcGetProgramLog};
	uint64_t digest = 0;
	const char *lowered = "none";
	char bytes[16384];
	int results[5];

	for (int i = 0; i < 2; i++) {
		size_t size = 0;

		step(stepping);
		results[2 * i] = sizes[i](program, &size);
		step(false);
		if (size > sizeof(bytes)) {
			_exit(5);
		}
		step(stepping);
		results[2 * i + 1] = getters[i](program, bytes);
		step(false);
		digest = host_mix(digest, bytes, size);
	}
	step(stepping);
	results[4] = compiler.nvrtcGetLoweredName(program, HOST_EXPRESSION, &lowered);
	step(false);
	digest = host_mix(digest, results, sizeof(results));
	return lowered != NULL ? host_mix(digest, lowered, strlen(lowered)) : digest;
}

static void in_child(void)
{
	pid_t child = (pid_t)syscall(SYS_fork);
	int status = -1;

	if (child == 0) {
		(void)alarm(SECONDS);
		_exit(ask(false) != expected);
	}
	wrong |= waitpid(child, &status, 0) != child || status != 0;
}

static void stepped(int number)
{
	steps++;
	if (what == ASK) {
		wrong |= ask(false) != expected;
	} else if (what == FORK) {
		in_child();
	} else if (steps == last && what == JUMP) {
		siglongjmp(back, 1);
	} else if (steps == last) {
		(void)pthread_cancel(pthread_self());
	}
}

static void *cancelled(void *unused)
{
	int type;

	(void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	(void)ask(true);
	return unused;
}

/* Up to the step `last`. */
static void ask_in_part(void)
{
	pthread_t thread;

	steps = 0;
	if (what == JUMP && sigsetjmp(back, 1) == 0) {
		(void)ask(true);
	} else if (what == CANCEL) {
		if (pthread_create(&thread, NULL, cancelled, NULL) != 0) {
			exit(4);
		}
		(void)pthread_join(thread, NULL);
	}
	wrong |= ask(false) != expected;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"ask", "jump", "cancel", "fork"};
	const struct sigaction action = {.sa_handler = stepped};

	if (argc != 3) {
		return 2;
	}
	while (what < FORK && strcmp(argv[2], names[what]) != 0) {
		what++;
	}
	host_open(argv[1], &compiler);
	program = host_create(&compiler, 1);
	printf("compile %d\n", host_build(&compiler, program, 0));
	expected = ask(false);
	printf("digest %016llx\n", (unsigned long long)expected);
	(void)fflush(stdout);
	(void)sigaction(SIGTRAP, &action, NULL);
	(void)alarm(SECONDS);
	if (what == ASK || what == FORK) {
		wrong |= ask(true) != expected;
	}
	/* not at each, as all before it are stepped through again */
	for (last = 1; (what == JUMP || what == CANCEL) && steps >= last - STRIDE; last += STRIDE) {
		ask_in_part();
	}
	printf("stepped: %s\n%s\n", steps > 10 ? "yes" : "no", wrong ? "other answers" : "the same answers");
	printf("digest %016llx\n", (unsigned long long)host_compile(&compiler, 2, 1));
	compiler.nvrtcDestroyProgram(&program);
	return 0;
}
#endif
