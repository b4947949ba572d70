#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The faults that `make mutants` plants fit the code as it is: else a rule would go on without its proof.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || skip_all "no python3"

planted() { PLANTED=found ONLY=$1 python3 tests/mutants/mutants.py "$BUILD"; }
check "The text that each planted mutant changes is in its file exactly once." planted ''
check "A run that matches no mutant fails." eval '! planted "a fault that nobody has planted"'
plan
