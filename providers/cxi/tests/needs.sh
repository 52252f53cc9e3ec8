#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Fails when the library needs anything but libc and libibverbs at run time.
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
status=0
for library in $needed; do
  case $library in
    libc.so.6|libibverbs.so.1|ld-linux*) ;;
    *) echo "$1 needs $library"; status=1 ;;
  esac
done
[ -n "$needed" ] || { echo "$1: nothing could be read"; exit 1; }
exit $status
