#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# command_line_test.sh BIN MAN: exit statuses and usage of the programs, and whether their man pages name
# every option. Needs no device and does not mind one.
bin=$1
man=$2
failed=0

# expect STATUS TEXT PROGRAM ARGUMENTS...: that exit status, and TEXT in the output.
expect() {
	status=$1
	text=$2
	shift 2
	output=$("$bin/$@" 2>&1)
	actual=$?
	if [ "$actual" != "$status" ] || ! printf '%s\n' "$output" | grep -q -- "$text"; then
		echo "FAILED: $*: status $actual, not $status, or no '$text' in: $output"
		failed=1
	fi
}

expect 0 '^Usage: ' ibv_asyncwatch --help
expect 1 '^Usage: ' ibv_asyncwatch --unknown
expect 1 '^Usage: ' ibv_asyncwatch cxi0
expect 1 '' ibv_asyncwatch -d no-such-device
expect 255 '^Usage: ' ibv_devinfo --unknown
expect 1 '^Usage: ' ibv_devinfo -i 0
expect 1 '^Usage: ' ibv_devinfo -i one
expect 255 '' ibv_devinfo -d no-such-device
expect 1 '^Usage:' ibv_ru_pingpong --unknown
expect 1 'ibv_ru_pingpong: --size must be a number' ibv_ru_pingpong --size 1k
expect 1 'ibv_ru_pingpong: ' ibv_ru_pingpong -d no-such-device
expect 0 '^Usage:' ibv_ru_pingpong --help
expect 255 '^Usage:' ibv_ru_rma --unknown
expect 255 'ibv_ru_rma: --sge must be a number' ibv_ru_rma --sge 9
expect 255 'ibv_ru_rma: ' ibv_ru_rma -d no-such-device
expect 0 '^Usage:' ibv_ru_rma --help

for program in ibv_asyncwatch ibv_devinfo ibv_ru_pingpong ibv_ru_rma; do
	for option in $("$bin/$program" -h 2>/dev/null | grep -o -- '--[a-z0-9_-]*' | sort -u); do
		if ! grep -q -- "\\*\\*$option\\*\\*" "$man/$program.1.md"; then
			echo "FAILED: the man page of $program does not name $option"
			failed=1
		fi
	done
done
exit $failed
