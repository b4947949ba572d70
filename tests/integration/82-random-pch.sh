#!/bin/bash
# needs: nvrtc
# weight: 60
# Random sessions of programs that share precompiled headers (tests/cases/random_tests.py); `make pch` for long runs.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
case $NVRTC_SONAME in
libnvrtc.so.1[0-2]*)
	echo "ok 1 - Random sessions with precompiled headers. # SKIP this NVRTC has none outside the working directory (13.0 and later have)"
	echo "1..1"
	exit 0
	;;
esac
export NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/random_tests.py pch "$1"
