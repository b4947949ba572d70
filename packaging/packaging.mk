# SPDX-License-Identifier: MIT
# make wheel, make deb   build/dist/: a Python wheel, a Debian package, of what FILES_FROM has of ARCH
# make packages          both
# The same commit gives the same bytes: the time of all files in them is the commit's, and tests/integration/76-packages.sh looks.
PACKAGES   := build/dist
FILES_FROM ?= $(BUILD)
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)

wheel deb: all
	$(call quiet,PACK,$@)SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) packaging/$@/build $(FILES_FROM) $(ARCH) $(PACKAGES)
packages: wheel deb
.PHONY: wheel deb packages
