# SPDX-License-Identifier: MIT
# make wheel, make deb   build/dist/: Python wheels, Debian packages, of what `make portable` builds for each of ARCHITECTURES
#                        make deb also packs the agent, if it can be built: for this machine and its distribution's libraries
# make packages          everything that is released
#
# FILES_FROM=DIRECTORY: packs the library and the command there, which are ARCH's; wheel and deb then need their glibc.
# The same commit gives the same bytes: all files have the commit's time. 76-packages and scripts/release check it.
PACKAGES := build/dist
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
pack = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) packaging/$@/build

ifeq ($(FILES_FROM),)
wheel deb: portable
	$(call quiet,PACK,$@)$(foreach arch,$(ARCHITECTURES),$(pack) build/portable/$(arch) $(arch) $(PACKAGES) &&) true
deb: agent-deb
else
wheel deb:
	$(call quiet,PACK,$@)$(pack) $(FILES_FROM) $(ARCH) $(PACKAGES)
endif
packages: dist wheel deb

# Does not contain paths of this machine, even if `make` has built here before.
AGENT_DIR := build/packed
ifneq ($(AGENT),)
agent-deb:
	@mkdir -p $(AGENT_DIR)
	@flock $(AGENT_DIR) $(MAKE) SAN= BUILD=$(AGENT_DIR) CFLAGS=-O2 LDFLAGS=-s $(AGENT_DIR)/nvrtccache-agent
	@SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) packaging/deb/build $(AGENT_DIR) $(ARCH) $(PACKAGES) nvrtccache-agent || \
		{ [ $$? = 77 ] && echo 'deb: going on without nvrtccache-agent'; }
else
agent-deb: no-agent
endif
.PHONY: wheel deb agent-deb packages
