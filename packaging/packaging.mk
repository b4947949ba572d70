# SPDX-License-Identifier: MIT
# make wheel, make deb   build/dist/: Python wheels, Debian packages, of what `make portable` builds for each of ARCHITECTURES
#                        make deb packs the agent too, where it can be built: for this machine, with its distribution's libraries
# make packages          all that is released
#
# FILES_FROM=DIRECTORY: of the library and the command there, which are ARCH's; wheel and deb then ask for their glibc.
# The same commit gives the same bytes: the time of all files in them is the commit's. 76-packages and scripts/release look.
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

# Without paths of this machine in it, whatever `make` has built here before.
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
