#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The first process of the guest: brings up soft RoCE, runs the programs, switches off. What it prints
# goes to the second serial line, where the kernel is silent.
/bin/busybox mkdir -p /proc /sys /dev /tmp /usr/bin /usr/sbin
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin:/usr/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
exec </dev/null >/dev/ttyS1 2>&1
. /settings

section() {
  echo "@@ $1"
  shift
  "$@"
  echo "@@ exit $?"
}

values() {
  cd /sys/class/infiniband/rxe0
  grep -s . node_guid sys_image_guid fw_ver
  cd ports/1
  grep -s . state phys_state lid sm_lid link_layer
  for table in gids pkeys; do
    echo "$table:$(ls "$table" | wc -l)"
  done
  cd /
}

# Full paths: this shell prefers its own applets.
set_up() {
  while read -r module; do
    insmod "$module" || echo "cannot load $module"
  done </modules
  # Addresses are there at once, without waiting for others who might have them.
  echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
  /usr/sbin/ip link set lo up
  /usr/sbin/ip link add v0 type veth peer name v1
  /usr/sbin/ip link set v0 up
  /usr/sbin/ip link set v1 up
  /usr/sbin/ip address add 192.0.2.1/24 dev v0
  rdma link add rxe0 type rxe netdev v0
  rdma link show
}

section kernel uname -r
section set-up set_up
section sysfs values
section ibv_devices ibv_devices
section ibv_devinfo ibv_devinfo -v
section ibv_devinfo-unknown ibv_devinfo -d nothing
export RDMAV_DRIVERS="$PROVIDER"
section verbs verbs_on_kernel
echo "@@ end"
sync
# QEMU runs with -no-reboot, so this ends it.
reboot -f
