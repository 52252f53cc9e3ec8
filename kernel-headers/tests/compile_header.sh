#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# compile_header.sh LANGUAGE HEADER COMPILER FLAGS...: the header compiles alone, without a warning.
# Exits 77 (skipped) when the compiler does not know a flag, such as -m32 on other architectures.
language=$1
header=$2
shift 2
if ! echo 'int main(void);' | "$@" -fsyntax-only -x "$language" - 2>/dev/null; then
	echo "skipped: the compiler does not take: $*"
	exit 77
fi
exec "$@" -Wall -Wextra -Wshadow -Werror -fsyntax-only -include "$header" -x "$language" /dev/null
