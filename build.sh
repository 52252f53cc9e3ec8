#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Builds, demonstrates and tests cxiverbs on Debian 12 (or later), and installs what that needs.
#
#   ./build.sh          build into build/ (build/bin, build/lib, build/man; usable in place)
#   ./build.sh demo     build, start a software Cassini with two NICs, run ibv_ru_pingpong on it
#   ./build.sh test     build the tests too, run every test: ctest, then pytest
#
# CXV_BUILD_DIR names another build folder, CXV_CMAKE_ARGS further CMake arguments. CI=true makes
# warnings errors.
set -euo pipefail
cd "$(dirname "$0")"

build_dir=${CXV_BUILD_DIR:-build}

build_packages=(cmake g++ libcap-ng-dev libcli11-dev libfmt-dev libgmock-dev libgtest-dev libnl-3-dev
  libnl-route-3-dev ninja-build pandoc pkg-config python3)
# Compilers and tools of the tests and benchmarks, the programs of the distribution that run on our
# library, and the kernel that libibverbs meets in a virtual machine.
test_packages=(binutils clang ibverbs-utils libbenchmark-dev libclang-rt-dev python3-pytest util-linux
  ibverbs-providers libfabric-bin mandoc perftest python3-pyverbs ucx-utils
  busybox-static cpio iproute2 linux-image-amd64 qemu-system-x86)

fail() {
  echo "build.sh: $*" >&2
  exit 1
}

# Installs those of the named packages that are missing.
need() {
  command -v dpkg-query >/dev/null ||
    fail "this is not Debian: install by hand what 'need' lists in build.sh, then run cmake -G Ninja"
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "these packages are missing: ${missing[*]}; run as root, or install sudo"
    as_root=(sudo)
  fi
  echo "build.sh: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install ${missing[*]}"
}

# Builds the named targets, or all.
build() {
  need "${build_packages[@]}"
  local args=()
  [ "${CI:-}" = true ] && args+=(-DCXV_WERROR=ON)
  # shellcheck disable=SC2086  # several arguments are wanted
  cmake -G Ninja -S . -B "$build_dir" "${args[@]}" ${CXV_CMAKE_ARGS:-} >"/dev/null" ||
    fail "cmake failed; run it again without >/dev/null to see why: cmake -G Ninja -S . -B $build_dir"
  ninja -C "$build_dir" --quiet "$@"
}

demo() {
  build programs
  echo "Two NICs, two processes, 64-byte messages:"
  "$build_dir/bin/cxi_sim" run --nics 2 -- tests/demo.sh "$build_dir/bin" 64 20000
  echo
  echo "Two NICs, two processes, 1 MiB messages:"
  "$build_dir/bin/cxi_sim" run --nics 2 -- tests/demo.sh "$build_dir/bin" 1048576 500
}

run_tests() {
  need "${test_packages[@]}"
  build
  (cd "$build_dir" && ctest --output-on-failure --parallel "$(nproc)")
  CXV_BUILD_DIR="$(realpath "$build_dir")" /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests
}

case "${1:-build}" in
  build) build programs ;;
  demo) demo ;;
  test) run_tests ;;
  -h | --help | help) sed -n '5,12s/^# \{0,1\}//p' "$0" ;;
  *) fail "unknown command '$1'; say nothing (build), demo, or test" ;;
esac
