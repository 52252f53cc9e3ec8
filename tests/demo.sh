#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs ibv_ru_pingpong between two processes on the first two NICs, inside a software Cassini or on
# hardware:  demo.sh BIN_FOLDER MESSAGE_SIZE ITERATIONS
set -eu
bin=$1 size=$2 iterations=$3
port=$((20000 + RANDOM % 10000))  # another demonstration may run beside this one

"$bin/ibv_ru_pingpong" -d cxi0 -s "$size" -n "$iterations" -p "$port" >/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT

output="the server has ended"
# The client may come first: try until the server listens.
while kill -0 "$server" 2>/dev/null; do
  if output=$("$bin/ibv_ru_pingpong" -d cxi1 -s "$size" -n "$iterations" -p "$port" localhost 2>&1); then
    printf '%s\n' "$output"
    wait "$server"
    exit 0
  fi
  case $output in
    *"onnection refused"* | *"ouldn't connect"*) sleep 0.05 ;;
    *) break ;;
  esac
done
printf '%s\n' "$output" >&2
exit 1
