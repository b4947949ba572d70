/* SPDX-License-Identifier: MIT */
#include "cli/console/crew.h"

#include "cli/console/interrupt.h"

#include <pthread.h>
#include <time.h>

#define THREADS_MAX 16
#define LOOK_NS     50000000 /* between two looks at how far they are */

struct job {
	chore_work *work;
	void *context;
	unsigned count;
	_Atomic unsigned next;
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	unsigned working; /* threads */
};

/* `guess`: how many there seem to be, if the chore does not know; 0: that does not either. */
static void show(struct chore *chore, uint64_t guess)
{
	struct crew *crew = chore->teller;
	const char *doing = chore->phase == CHORE_LOOKING ? crew->looking : crew->working;
	uint64_t done = atomic_load_explicit(&chore->done, memory_order_relaxed);

	if (doing != crew->doing) {
		progress_begin(&crew->progress, doing);
		crew->doing = doing;
	}
	if (chore->whole == 0 || chore->sum == CHORE_GUESSED) {
		progress_guess(&crew->progress, done, chore->whole != 0 ? chore->whole : guess);
	} else {
		progress_show(&crew->progress, done, chore->whole);
	}
}

static void tell(struct chore *chore)
{
	show(chore, 0);
}

static bool stopped(void)
{
	return interrupt_seen() != 0;
}

static void *work(void *argument)
{
	struct job *job = argument;
	unsigned number;

	while ((number = atomic_fetch_add(&job->next, 1)) < job->count) {
		job->work(job->context, number);
	}
	(void)pthread_mutex_lock(&job->mutex);
	job->working--;
	(void)pthread_cond_signal(&job->ended);
	(void)pthread_mutex_unlock(&job->mutex);
	return NULL;
}

/* Returns how many there are. */
static unsigned start(struct job *job, pthread_t ret_threads[THREADS_MAX])
{
	unsigned most = job->count < THREADS_MAX ? job->count : THREADS_MAX;
	unsigned count = 0;

	job->working = most;
	while (count < most && pthread_create(&ret_threads[count], NULL, work, job) == 0) {
		count++;
	}
	(void)pthread_mutex_lock(&job->mutex);
	job->working -= most - count;
	(void)pthread_mutex_unlock(&job->mutex);
	return count;
}

/* From the share of the shards that are done, and at least what is done. */
static uint64_t guess(const struct chore *chore, const struct job *job)
{
	unsigned next = atomic_load(&job->next);
	unsigned over = next < job->count ? next : job->count;
	uint64_t done = atomic_load_explicit(&chore->done, memory_order_relaxed);

	over -= job->working < over ? job->working : over;
	return over > 0 ? done * job->count / over : 0;
}

static void look_on(struct chore *chore, struct job *job)
{
	struct timespec until;
	uint64_t about;

	(void)pthread_mutex_lock(&job->mutex);
	while (job->working > 0) {
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		(void)pthread_cond_timedwait(&job->ended, &job->mutex, &until);
		about = guess(chore, job);
		(void)pthread_mutex_unlock(&job->mutex);
		show(chore, about);
		(void)pthread_mutex_lock(&job->mutex);
	}
	(void)pthread_mutex_unlock(&job->mutex);
}

static void each(struct chore *chore, unsigned count, chore_work *function, void *context)
{
	struct job job = {.work = function,
	                  .context = context,
	                  .count = count,
	                  .mutex = PTHREAD_MUTEX_INITIALIZER,
	                  .ended = PTHREAD_COND_INITIALIZER};
	pthread_t threads[THREADS_MAX];
	unsigned started = start(&job, threads);

	look_on(chore, &job);
	for (unsigned i = 0; i < started; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	for (unsigned i = 0; started == 0 && i < count; i++) {
		function(context, i);
		tell(chore);
	}
}

void crew_begin(struct crew *crew, const char *looking, const char *working)
{
	*crew = (struct crew){.looking = looking, .working = working};
	crew->chore.tell = tell;
	crew->chore.stopped = stopped;
	crew->chore.each = each;
	crew->chore.teller = crew;
}

void crew_end(struct crew *crew)
{
	if (crew->doing) {
		progress_end(&crew->progress);
	}
}
