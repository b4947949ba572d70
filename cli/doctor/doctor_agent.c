/* SPDX-License-Identifier: MIT */
/*
 * doctor: checks whether the node's agent answers
 *
 * Calls the function that a process calls after a miss, with the same time limits. The key is all zeros, which no
 * request has, so a working agent answers that it has no such entry.
 */
#include "cli/doctor/doctor.h"

#include "cache/agent_client.h"
#include "cache/agent_socket.h"

#include <string.h>

void doctor_agent(struct findings *findings, const struct settings *settings)
{
	static const uint8_t nobodys[ENTRY_KEY_BYTES];
	const struct agent_options options = {
	    .said = settings->agent,
	    .directory = {.path = settings->directory, .shared = settings->shared},
	    .wait_ms = settings->agent_wait_ms,
	};
	uint64_t device, inode;
	enum agent_outcome outcome;
	char path[PATH_MAX];

	if (!settings->agent || !settings->directory || findings->refused) {
		return;
	}
	if (agent_socket_path(settings->agent, settings->directory, path) < 0) {
		finding_add(findings, FINDING_WARN, "NVRTCCACHE_AGENT=%s: the path of the socket cannot be determined",
		            settings->agent);
		return;
	}
	/* an agent serves one directory, which the request identifies by device and inode */
	if (agent_socket_place(&options.directory, &device, &inode) < 0) {
		finding_add(findings, FINDING_WARN,
		            "agent %s is not asked, because the cache directory is missing or cannot be used", path);
		return;
	}
	outcome = agent_fetch(&options, nobodys);
	if (outcome == AGENT_FETCH_FOUND || outcome == AGENT_FETCH_ABSENT) {
		finding_add(findings, FINDING_OK, "agent %s answers", path);
	} else if (outcome == AGENT_FETCH_NOT_ASKED) {
		finding_add(
		    findings, FINDING_OK,
		    "agent %s gets new entries for upload and is never asked, because NVRTCCACHE_AGENT_WAIT is 0",
		    path);
	} else {
		finding_add(findings, FINDING_WARN, "agent %s %s; see nvrtccache-agent(1)", path,
		            agent_outcome_words(outcome));
	}
}
