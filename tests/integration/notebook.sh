# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# notebook: pytest, ipykernel and nbconvert for the scripts that need them; source it after lib.sh
#
#   get_notebook    makes $notebook, a virtual environment with them, which come from PyPI, once; or sets `no_notebook`,
#                   why there is none

notebook=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/notebook
get_notebook() {
	[ ! -e "$notebook/done" ] || return 0
	mkdir -p "${notebook%/*}" && (
		flock 9 && [ ! -e "$notebook/done" ] || exit 0
		rm -rf "$notebook" && python3 -m venv "$notebook" && "$notebook/bin/python" -m pip -q --disable-pip-version-check --retries 1 --timeout 20 \
			install --only-binary=:all: "nbconvert==7.*" "ipykernel==7.*" "pytest==9.*" && touch "$notebook/done"
	) 9>"$notebook.lock" >"$tmp/get.log" 2>&1
	[ -e "$notebook/done" ] || no_notebook="pip cannot get nbconvert, ipykernel and pytest: $(tail -n 1 "$tmp/get.log")"
}
