// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Finding and opening devices.
#include <endian.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "checks.hpp"
#include "machine.hpp"

namespace guest {

Context open_device(const std::string& name) {
  ibv_device** list = ibv_get_device_list(nullptr);
  if (!list) return {};
  Context context;
  int error = ENODEV;
  for (size_t i = 0; list[i]; i++)
    if (name == ibv_get_device_name(list[i])) {
      context.reset(ibv_open_device(list[i]));
      error = errno;
    }
  ibv_free_device_list(list);
  if (!context) errno = error;
  return context;
}

namespace {

std::string guid_text(__be64 guid) {
  uint64_t value = be64toh(guid);
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", value >> 48, value >> 32 & 0xffff,
                     value >> 16 & 0xffff, value & 0xffff);
}

void check_list(Report& report, int index) {
  int count = -1;
  ibv_device** list = ibv_get_device_list(&count);
  if (!report.that(list != nullptr, "the device list is there", strerror(errno))) return;
  report.equal(count, 1, "it has one device");
  report.that(count < 1 || list[count] == nullptr, "and ends with NULL");
  if (count == 1) {
    ibv_device* device = list[0];
    std::string uverbs = device->dev_name;
    std::string uverbs_folder = "/sys/class/infiniband_verbs/" + uverbs;
    report.equal(std::string(ibv_get_device_name(device)), device_name, "the device has its name");
    report.equal(ibv_get_device_index(device), index, "and the index that netlink tells");
    report.equal(guid_text(ibv_get_device_guid(device)),
                 line_of(std::string(device_folder) + "/node_guid").value_or("none"),
                 "the GUID is the one in sysfs");
    report.equal(static_cast<int>(device->node_type),
                 number_of(std::string(device_folder) + "/node_type"),
                 "the node type is the one in sysfs");
    report.equal(static_cast<int>(device->transport_type), static_cast<int>(IBV_TRANSPORT_IB),
                 "the transport goes with it");
    report.equal(line_of(uverbs_folder + "/ibdev").value_or("none"), device_name,
                 "the uverbs device is the one that belongs to it");
    report.equal(std::string(device->dev_path), uverbs_folder, "with its folder");
    report.equal(std::string(device->ibdev_path), device_folder, "next to that of the device");
  }
  ibv_free_device_list(list);
}

// From here on this process gets no RDMA netlink sockets, as in a container that forbids them.
bool forbid_netlink() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NETLINK_RDMA, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPROTONOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof(program) / sizeof(program[0]), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

void without_netlink(Report& report) {
  report.that(forbid_netlink(), "netlink can be forbidden", strerror(errno));
  int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
  report.that(fd < 0 && errno == EPROTONOSUPPORT, "and then is");
  check_list(report, -1);
  Context context = open_device(device_name);
  report.that(context != nullptr, "the device opens", strerror(errno));
}

dev_t number_of_device(const ibv_context& context) {
  struct stat status;
  return fstat(context.cmd_fd, &status) == 0 ? status.st_rdev : 0;
}

std::string number_text(dev_t number) {
  return fmt::format("{}:{}", major(number), minor(number));
}

}  // namespace

void check_discovery(Report& report) {
  int index = index_of(device_name);
  report.that(index >= 0, "the kernel has numbered the device");
  check_list(report, index);
}

// In a process of its own, since there is no way back. Its lines go where ours go.
void check_discovery_without_netlink(Report& report) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    Report own;
    without_netlink(own);
    _exit(own.failures() == 0 ? 0 : 1);
  }
  int status = -1;
  report.that(child > 0 && waitpid(child, &status, 0) == child && status == 0,
              "sysfs alone leads to the device too");
}

void check_opening(Report& report) {
  Context context = open_device(device_name);
  if (!report.that(context != nullptr, "a device opens by its name", strerror(errno))) return;
  const std::string uverbs = context->device->dev_name;
  const std::string number =
      line_of("/sys/class/infiniband_verbs/" + uverbs + "/dev").value_or("none");
  report.equal(number_text(number_of_device(*context)), number, "as the right character device");
  report.that(context->async_fd >= 0, "with a descriptor for asynchronous events");
  report.that(context->num_comp_vectors > 0, "and completion vectors");
  report.that((fcntl(context->cmd_fd, F_GETFD) & FD_CLOEXEC) != 0, "which exec() will close");

  // Another device has taken the name; udev has made a link by number.
  const std::string node = "/dev/infiniband/" + uverbs;
  const std::string link = "/dev/char/" + number;
  bool swapped = run("mkdir -p /dev/char && mv " + node + " /dev/kept && ln -s /dev/null " + node +
                     " && ln -s /dev/kept " + link);
  Context by_number = open_device(device_name);
  report.that(swapped && by_number, "it opens by number when its name has gone to another device",
              strerror(errno));
  if (by_number)
    report.equal(number_text(number_of_device(*by_number)), number, "and is the right one then");
  report.that(run("rm " + node + " " + link + " && mv /dev/kept " + node), "the node is back");

  errno = 0;
  report.that(!ibv_import_device(STDIN_FILENO) && errno != 0, "not every descriptor is a device");
}

}  // namespace guest
