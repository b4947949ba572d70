#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The faults that `make mutants` plants fit the code as it is: else a rule would go on without its proof.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || skip_all "no python3"

planted() { PLANTED=found ONLY=$1 python3 tests/mutants/mutants.py "$BUILD"; }
check "What each planted fault changes is there, once." planted ''
check "Faults that cannot be found are told of." eval '! planted "a fault that nobody has planted"'
plan
