#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A fleet on one machine: nodes in mount namespaces of their own, each with a directory and an agent, and a real Redis. What
# a host gets is compared with what it gets without us; no time is asserted (scripts/fleet shows times).
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
PATH=$PATH:/usr/sbin
[ -x "$BUILD/nvrtccache-agent" ] || skip_all "no agent was built: hiredis, libcurl or zstd is missing"
command -v python3 >/dev/null || skip_all "no python3"
command -v redis-server >/dev/null || skip_all "no redis-server"
unset XDG_CACHE_HOME LD_LIBRARY_PATH NVRTCCACHE_DIR

killed() { mkdir "$tmp/place" && timeout 600 python3 tests/fleet/check.py "$BUILD" "$tmp/place"; }
check "An engine that is killed while nodes start, and comes back empty: nothing is wrong, and it fills again." killed
faults_differ() { timeout 900 scripts/fleet --rounds 1 --faults "$BUILD" >"$tmp/table" && [ "$(grep -c ' same ' "$tmp/table")" -eq 5 ]; }
check "Whatever engine and agent have wrong with them: the host gets what it gets without us." faults_differ
plan
