/* SPDX-License-Identifier: MIT */
/* agent_client: questions to a socket whose server is a thread of the test that follows a script */
#include "cache/agent_client.h"

#include "cache/agent_socket.h"
#include "tests/unit/support.h"
#include "tests/unit/syscalls.h"

#define LONG_WAIT  600000 /* longer than any test takes */
#define SHORT_WAIT 30
#define OTHER_USER 1003
#define TEAM       2000

static struct {
	char base[200];
	char cache[220];
	char home[240]; /* in the cache */
	char socket[240];
	int descriptors;
	int listening;
	pthread_t thread;
	const char *script;          /* the script of the server: act_out() */
	void (*meanwhile)(int peer); /* called before the script */
	_Atomic int asked, told;
	struct agent_message message; /* the last message received */
	struct agent_options options;
} agent;

static const uint8_t key[ENTRY_KEY_BYTES] = {0xab, 1, 2, 3, [31] = 0x7f};

static void set_up(void)
{
	cr_assert(private_directory_make(agent.base, sizeof(agent.base), "agent-test"));
	(void)snprintf(agent.cache, sizeof(agent.cache), "%s/cache", agent.base);
	(void)snprintf(agent.home, sizeof(agent.home), "%s/v1", agent.cache);
	(void)snprintf(agent.socket, sizeof(agent.socket), "%s/socket", agent.base);
	cr_assert_eq(mkdir(agent.cache, 0700), 0);
	cr_assert_eq(mkdir(agent.home, 0700), 0);
	agent.options =
	    (struct agent_options){.said = agent.socket, .directory = {.path = agent.cache}, .wait_ms = LONG_WAIT};
	agent.listening = -1;
	agent.descriptors = descriptors_open();
}

static void tear_down(void)
{
	remove_tree(agent.base);
}

TestSuite(agent_client, .init = set_up, .fini = tear_down, .timeout = 300);

static int bind_address(int made, const struct sockaddr *address, socklen_t size)
{
	return bind(made, address, size);
}

static int listen_at(const char *path, int type, int backlog)
{
	int made = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	(void)unlink(path);
	cr_assert_eq(agent_socket_attach(made, path, bind_address), 0, "%s", strerror(errno));
	cr_assert_eq(listen(made, backlog), 0);
	return made;
}

static ssize_t say(int peer, enum agent_kind kind)
{
	const struct agent_message answer = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = (uint16_t)kind};

	return send(peer, &answer, sizeof(answer), MSG_NOSIGNAL);
}

static struct {
	char bytes[128];
	size_t size;
} bad_answer;

/* Answers as the script says. S, F, A, D, E: sends "started", "found", "absent", "down", "elsewhere"; *: sends
 * "started" until an error; !: sends bad_answer; .: waits until the client hangs up. The caller closes the
 * connection. */
static void act_out(int peer, const char *script)
{
	static const char letters[] = "SFADE";
	static const enum agent_kind kinds[] = {AGENT_STARTED, AGENT_FOUND, AGENT_ABSENT, AGENT_DOWN, AGENT_ELSEWHERE};
	char nothing;

	for (; *script; script++) {
		if (strchr(letters, *script)) {
			(void)say(peer, kinds[strchr(letters, *script) - letters]);
		} else if (*script == '!') {
			(void)send(peer, bad_answer.bytes, bad_answer.size, MSG_NOSIGNAL);
		}
		while (*script == '*' && say(peer, AGENT_STARTED) > 0) {
		}
		while (*script == '.' && recv(peer, &nothing, 1, 0) > 0) {
		}
	}
}

static void *serve_all(void *unused)
{
	for (;;) {
		struct agent_message message = {0};
		int peer = accept4(agent.listening, NULL, NULL, SOCK_CLOEXEC);

		if (peer < 0) {
			return NULL;
		}
		if (recv(peer, &message, sizeof(message), 0) == (ssize_t)sizeof(message)) {
			agent.message = message;
			atomic_fetch_add(message.kind == AGENT_STORED ? &agent.told : &agent.asked, 1);
			if (agent.meanwhile) {
				agent.meanwhile(peer);
			}
			act_out(peer, agent.script);
		}
		close(peer);
	}
}

static void start_at(const char *path, const char *script)
{
	agent.script = script;
	agent.listening = listen_at(path, SOCK_SEQPACKET, 64);
	cr_assert_eq(pthread_create(&agent.thread, NULL, serve_all, NULL), 0);
}

static void start(const char *script)
{
	start_at(agent.socket, script);
}

static void stop(void)
{
	(void)shutdown(agent.listening, SHUT_RDWR);
	pthread_join(agent.thread, NULL);
	close(agent.listening);
	cr_expect_eq(descriptors_open(), agent.descriptors);
}

static enum agent_outcome fetch(void)
{
	enum agent_outcome outcome;

	errno = ETXTBSY;
	outcome = agent_fetch(&agent.options, key);
	cr_expect_eq(errno, ETXTBSY);
	return outcome;
}

Test(agent_client, answers_are_returned_and_the_agent_can_be_asked_again)
{
	static const struct {
		const char *script;
		enum agent_outcome outcome;
	} cases[] = {{"SF", AGENT_FETCH_FOUND}, {"SA", AGENT_FETCH_ABSENT}, {"D", AGENT_FETCH_DOWN}};

	for (size_t i = 0; i < COUNT(cases); i++) {
		start(cases[i].script);
		for (int again = 0; again < 3; again++) {
			cr_expect_eq(fetch(), cases[i].outcome, "%zu", i);
		}
		stop();
	}
	cr_expect_eq(atomic_load(&agent.asked), 9);
}

static const struct failure {
	const char *what, *script;
	enum agent_outcome outcome;
	unsigned wait_ms;
} failures[] = {
    {"mute", ".", AGENT_FETCH_TIMEOUT, SHORT_WAIT},  {"hung", "S.", AGENT_FETCH_TIMEOUT, SHORT_WAIT},
    {"endless", "*", AGENT_FETCH_BROKEN, LONG_WAIT}, {"elsewhere", "E", AGENT_FETCH_ELSEWHERE, LONG_WAIT},
    {"hangs up", "", AGENT_FETCH_BROKEN, LONG_WAIT},
};

static int ask_once(const struct failure *failure)
{
	agent.options.wait_ms = failure->wait_ms;
	start(failure->script);
	cr_expect_eq(fetch(), failure->outcome, "%s", failure->what);
	for (int again = 0; again < 20; again++) {
		cr_expect_eq(fetch(), AGENT_FETCH_SKIPPED, "%s", failure->what);
	}
	agent_stored(&agent.options, key);
	stop();
	return atomic_load(&agent.asked) == 1 && atomic_load(&agent.told) == 1 ? 0 : 1;
}

/* In children, because each case needs a new state. */
Test(agent_client, a_failing_agent_is_not_asked_again_for_a_while_but_told)
{
	for (size_t i = 0; i < COUNT(failures); i++) {
		cr_expect_eq(in_child(ask_once(&failures[i])), 0, "%s", failures[i].what);
	}
}

/* Weighs a wait of so many quarters of the time that one question may take. */
static void wait_quarters(int quarters, uint64_t spared)
{
	agent_weigh(&agent.options, AGENT_ASKED, quarters * LONG_WAIT * INT64_C(1000000) / 4, spared);
}

Test(agent_client, quick_useless_answers_together_may_take_as_long_as_one_question)
{
	start("SA");
	for (int i = 0; i < 4; i++) {
		wait_quarters(1, 0);
	}
	wait_quarters(1, UINT64_MAX); /* one that saves more than it takes forgives those before */
	for (int i = 0; i < 3; i++) {
		wait_quarters(1, 0);
	}
	cr_expect_eq(fetch(), AGENT_FETCH_ABSENT);
	wait_quarters(1, 0);
	wait_quarters(1, 0);
	cr_expect_eq(fetch(), AGENT_FETCH_SKIPPED);
	agent_stored(&agent.options, key);
	stop();
	cr_expect_eq(agent.message.kind, AGENT_STORED, "what was stored is reported nevertheless");
}

Test(agent_client, a_slow_agent_is_asked_again_if_its_answer_saved_more_time_than_it_took)
{
	const int64_t third = LONG_WAIT * INT64_C(1000000) / 3;

	start("SA");
	agent_weigh(&agent.options, AGENT_ASKED, 10 * third, (uint64_t)(10 * third));
	agent_weigh(&agent.options, AGENT_ASKED, 10 * third, UINT64_MAX);
	agent_weigh(&agent.options, AGENT_ASKED, 10 * third, (uint64_t)(9 * third));
	cr_expect_eq(fetch(), AGENT_FETCH_ABSENT);
	agent_weigh(&agent.options, AGENT_ASKED, 10 * third, (uint64_t)(9 * third) - 1);
	cr_expect_eq(fetch(), AGENT_FETCH_SKIPPED);
	stop();
}

/* Otherwise each of many processes in step would wait for the agent, one after another. */
Test(agent_client, useless_waits_of_another_process_count)
{
	const int64_t third = LONG_WAIT * INT64_C(1000000) / 3;

	start("SA");
	agent_weigh(&agent.options, AGENT_OVERHEARD, 10 * third, (uint64_t)(9 * third));
	cr_expect_eq(fetch(), AGENT_FETCH_ABSENT);
	agent_weigh(&agent.options, AGENT_OVERHEARD, 10 * third, (uint64_t)(9 * third) - 1);
	cr_expect_eq(fetch(), AGENT_FETCH_SKIPPED);
	stop();
}

/* Returns the outcome of a fetch that is answered with `size` bytes of `answer`. */
static enum agent_outcome outcome_of(struct agent_message answer, size_t size)
{
	memcpy(bad_answer.bytes, &answer, sizeof(answer));
	bad_answer.size = size;
	return (enum agent_outcome)in_child((start("!."), (int)fetch()));
}

Test(agent_client, malformed_answers_are_rejected)
{
	const struct agent_message good = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = AGENT_FOUND};
	struct agent_message bad = good;

	cr_expect_eq(outcome_of(good, sizeof(good)), AGENT_FETCH_FOUND);
	cr_expect_eq(outcome_of(good, sizeof(good) - 1), AGENT_FETCH_BROKEN);
	cr_expect_eq(outcome_of(good, sizeof(good) + 1), AGENT_FETCH_BROKEN);
	cr_expect_eq(outcome_of(good, 1), AGENT_FETCH_BROKEN);
	bad.magic++;
	cr_expect_eq(outcome_of(bad, sizeof(bad)), AGENT_FETCH_BROKEN);
	bad = good;
	bad.version++;
	cr_expect_eq(outcome_of(bad, sizeof(bad)), AGENT_FETCH_BROKEN);
	for (unsigned kind = 0; kind < 32; kind++) {
		bad = good;
		bad.kind = (uint16_t)kind;
		if (kind < AGENT_STARTED || kind > AGENT_ELSEWHERE) {
			cr_expect_eq(outcome_of(bad, sizeof(bad)), AGENT_FETCH_BROKEN, "%u", kind);
		}
	}
}

enum in_its_place { NOTHING, A_PIPE, A_FILE, A_LINK_TO_ITSELF, A_SOCKET_WITHOUT_A_SERVER, A_STREAM, PLACES };

static void put_in_its_place(enum in_its_place what)
{
	if (what == A_PIPE) {
		cr_assert_eq(mkfifo(agent.socket, 0600), 0);
	} else if (what == A_FILE) {
		cr_assert(file_write(agent.socket, "", 0));
	} else if (what == A_LINK_TO_ITSELF) {
		cr_assert_eq(symlink(agent.socket, agent.socket), 0);
	} else if (what == A_SOCKET_WITHOUT_A_SERVER) {
		close(listen_at(agent.socket, SOCK_SEQPACKET, 1));
	} else if (what == A_STREAM) {
		agent.listening = listen_at(agent.socket, SOCK_STREAM, 1);
	}
}

static int find_no_agent(enum in_its_place what)
{
	put_in_its_place(what);
	cr_expect_eq(fetch(), AGENT_FETCH_NOBODY, "%d", (int)what);
	close(agent.listening);
	cr_expect_eq(descriptors_open(), agent.descriptors);
	return fetch() == AGENT_FETCH_SKIPPED ? 0 : 1;
}

Test(agent_client, without_a_listening_agent_the_call_returns_at_once)
{
	for (enum in_its_place what = NOTHING; what < PLACES; what++) {
		cr_expect_eq(in_child(find_no_agent(what)), 0, "%d", (int)what);
		(void)unlink(agent.socket);
	}
}

Test(agent_client, a_full_backlog_counts_as_no_agent)
{
	int listening = listen_at(agent.socket, SOCK_SEQPACKET, 0);
	int others[8];
	size_t count = 0;

	while (count < 8 && agent_socket_connect(agent.socket, &others[count]) == 0) {
		count++;
	}
	cr_assert_lt(count, 8);
	agent.descriptors = descriptors_open();
	cr_expect_eq(fetch(), AGENT_FETCH_NOBODY);
	cr_expect_eq(descriptors_open(), agent.descriptors);
	while (count > 0) {
		close(others[--count]);
	}
	close(listening);
}

static void ask(void *context, unsigned step)
{
	(void)agent_fetch(context, key);
}

Test(agent_client, during_a_pause_a_question_costs_one_clock_read)
{
	struct syscalls counts[2];

	skip_unless(syscalls_count(ask, &agent.options, 2, counts), "processes cannot be traced here");
	cr_expect_gt(counts[0].all, 2);
	cr_expect_eq(counts[1].all, 1, "%u", counts[1].all);
}

/* Returns the descriptor of the socket on which the test's own thread asks. */
static int asking_socket(int peer)
{
	for (int i = 3; i < 1024; i++) {
		struct sockaddr_un name;
		socklen_t size = sizeof(name);

		if (i != peer && i != agent.listening && getpeername(i, (struct sockaddr *)&name, &size) == 0 &&
		    size > sizeof(sa_family_t) && strcmp(name.sun_path, agent.socket) == 0) {
			return i;
		}
	}
	return -1;
}

static atomic_int taken_number = -1;

/* Closes the socket as a host that closes unknown descriptors, and opens another file under its number. */
static void take_number(int peer)
{
	int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int number = asking_socket(peer);

	(void)dup3(file, number, O_CLOEXEC);
	atomic_store(&taken_number, number);
	close(file);
}

Test(agent_client, a_descriptor_number_reused_by_the_host_is_neither_read_nor_closed)
{
	struct stat found = {0};
	struct stat zero;
	int number;

	agent.meanwhile = take_number;
	start("SF");
	cr_expect_neq(fetch(), AGENT_FETCH_FOUND);
	number = atomic_load(&taken_number);
	cr_assert_geq(number, 0);
	cr_expect_eq(fstat(number, &found), 0);
	cr_assert_eq(stat("/dev/zero", &zero), 0);
	cr_expect_eq(found.st_rdev, zero.st_rdev);
	close(number);
	stop();
}

static int ask_without_standard_descriptors(void)
{
	bool good;

	for (int i = 0; i < 3; i++) {
		(void)close(i);
	}
	good = agent_fetch(&agent.options, key) == AGENT_FETCH_ABSENT;
	for (int i = 0; i < 3; i++) {
		good = good && fcntl(i, F_GETFD) < 0;
	}
	return good ? 0 : 1;
}

/* The server is in another process, so the connection that it accepts uses none of these numbers. */
Test(agent_client, the_socket_never_gets_a_standard_descriptor)
{
	start("SA");
	cr_expect_eq(in_child(ask_without_standard_descriptors()), 0);
	stop();
}

Test(agent_client, the_default_socket_is_in_the_cache_and_names_the_boot)
{
	char path[PATH_MAX];
	char id[64] = "";
	char expected[PATH_MAX];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "%60s", id), 1);
	fclose(file);
	(void)snprintf(expected, sizeof(expected), "%s/v1/agent.%s", agent.cache, id);
	cr_assert_eq(agent_socket_path("1", agent.cache, path), 0);
	cr_expect_str_eq(path, expected);
	cr_assert_eq(agent_socket_path("/run/a", NULL, path), 0);
	cr_expect_str_eq(path, "/run/a");
	cr_expect_eq(agent_socket_path("1", NULL, path), -EINVAL);
	cr_expect_eq(agent_socket_path("a", agent.cache, path), -EINVAL);
	cr_expect_eq(agent_socket_path("", agent.cache, path), -EINVAL);
}

Test(agent_client, socket_paths_longer_than_an_address_are_reached)
{
	char path[PATH_MAX];
	size_t size = strlen(agent.base);
	char name[120];

	memcpy(path, agent.base, size + 1);
	for (int i = 0; i < 3; i++) {
		size += (size_t)snprintf(path + size, sizeof(path) - size, "/%060d", i);
		cr_assert_eq(mkdir(path, 0700), 0);
	}
	(void)snprintf(path + size, sizeof(path) - size, "/socket");
	(void)snprintf(agent.socket, sizeof(agent.socket), "%.*s", (int)sizeof(agent.socket) - 1, path);
	agent.options.said = path;
	start_at(path, "SF");
	cr_expect_eq(fetch(), AGENT_FETCH_FOUND);
	stop();
	/* the last component of the path alone is too long */
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	(void)snprintf(path + size, sizeof(path) - size, "/%s", name);
	cr_expect_eq(fetch(), AGENT_FETCH_NOBODY);
	cr_expect_eq(descriptors_open(), agent.descriptors);
}

/* Starts an agent in a child with this user and group; the child serves questions until end(). The socket exists on
 * return. */
static pid_t start_as(uid_t user, gid_t group, mode_t mode)
{
	int channel[2];
	char ready;
	pid_t child;

	cr_assert_eq(pipe2(channel, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		if (setgroups(0, NULL) != 0 || setgid(group) != 0 || setuid(user) != 0) {
			_exit(99);
		}
		(void)umask(0);
		agent.listening = listen_at(agent.socket, SOCK_SEQPACKET, 4);
		(void)chmod(agent.socket, mode);
		agent.script = "SF";
		(void)!write(channel[1], "r", 1);
		(void)serve_all(NULL);
		_exit(0);
	}
	close(channel[1]);
	cr_assert_eq(read(channel[0], &ready, 1), 1, "the other user's agent did not start");
	close(channel[0]);
	return child;
}

static void end(pid_t child)
{
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
}

/* Fetches in a child, which has a new state. */
static enum agent_outcome fetch_as(uid_t user, gid_t group, gid_t member)
{
	return (enum agent_outcome)in_child(
	    setgroups(1, &member) != 0 || setgid(group) != 0 || setuid(user) != 0 ? 99 : (int)fetch());
}

Test(agent_client, an_agent_of_another_user_is_not_trusted)
{
	pid_t other;

	skip_unless(geteuid() == 0, "root is needed, to become several users");
	cr_assert_eq(chmod(agent.base, 0777), 0);
	cr_assert_eq(chmod(agent.cache, 0755), 0);
	cr_assert_eq(chmod(agent.home, 0755), 0);
	other = start_as(OTHER_USER, OTHER_USER, 0777);
	cr_expect_eq(fetch_as(0, 0, 0), AGENT_FETCH_STRANGER);
	cr_expect_eq(fetch_as(1000, 1000, 1000), AGENT_FETCH_STRANGER);
	cr_expect_eq(fetch_as(OTHER_USER, OTHER_USER, OTHER_USER), AGENT_FETCH_FOUND);
	end(other);
	other = start_as(0, 0, 0777);
	cr_expect_eq(fetch_as(1000, 1000, 1000), AGENT_FETCH_FOUND);
	end(other);
}

Test(agent_client, in_a_shared_cache_an_agent_of_a_group_member_is_trusted)
{
	pid_t member;

	skip_unless(geteuid() == 0, "root is needed, to become several users");
	cr_assert_eq(chmod(agent.base, 0777), 0);
	cr_assert_eq(chown(agent.cache, 0, TEAM), 0);
	cr_assert_eq(chmod(agent.cache, 02770), 0);
	cr_assert_eq(chown(agent.home, 0, TEAM), 0);
	cr_assert_eq(chmod(agent.home, 02770), 0);
	agent.options.directory.shared = true;
	member = start_as(OTHER_USER, TEAM, 0770);
	cr_expect_eq(fetch_as(1000, 100, TEAM), AGENT_FETCH_FOUND);
	agent.options.directory.shared = false;
	cr_expect_eq(fetch_as(1000, 100, TEAM), AGENT_FETCH_NOBODY); /* the directory is not trusted either */
	agent.options.directory.shared = true;
	end(member);
	member = start_as(OTHER_USER, OTHER_USER, 0777);
	cr_expect_eq(fetch_as(1000, 100, TEAM), AGENT_FETCH_STRANGER);
	end(member);
	member = start_as(OTHER_USER, TEAM, 0777); /* any user may connect, so any user could have replaced it */
	cr_expect_eq(fetch_as(1000, 100, TEAM), AGENT_FETCH_STRANGER);
	end(member);
}
