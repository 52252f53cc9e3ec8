// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_asyncwatch: the asynchronous events of a device, as they come.
#include <getopt.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "../common/devices.hpp"
#include "../common/text.hpp"
#include "event_line.hpp"

namespace {

using examples::DeviceList;

constexpr int ok = 0;
constexpr int failed = 1;

void usage(const char* program) {
  std::printf(
      "Usage: %s [options]\n"
      "\n"
      "Options:\n"
      "  -d, --ib-dev=NAME  watch this device (default: the first one)\n"
      "  -h, --help         print this text\n",
      program);
}

/// The exit status where the program is to end.
std::optional<int> parse_options(int argc, char** argv, const char*& device) {
  const option long_options[] = {
      {"ib-dev", required_argument, nullptr, 'd'}, {"help", no_argument, nullptr, 'h'}, {}};
  for (;;) {
    switch (getopt_long(argc, argv, "d:h", long_options, nullptr)) {
      case -1:
        if (optind == argc) return std::nullopt;
        usage(argv[0]);
        return failed;
      case 'd':
        device = optarg;
        break;
      case 'h':
        usage(argv[0]);
        return ok;
      default:
        usage(argv[0]);
        return failed;
    }
  }
}

/// The device called name, or the first one where name is null. Null after a complaint.
ibv_device* find_device(const DeviceList& list, const char* name) {
  const auto devices = list.devices();
  ibv_device* device = name ? list.find(name) : devices.empty() ? nullptr : devices.front();
  if (!device) {
    const std::string hint =
        devices.empty() ? examples::why_no_device() : "choose one of " + list.names();
    std::fprintf(stderr, "IB device %s not found: %s\n", name ? name : "", hint.c_str());
  }
  return device;
}

/// Prints events until there can be no more. The errno value that says why.
int watch(ibv_context* context) {
  ibv_async_event event;
  while (ibv_get_async_event(context, &event) == 0) {
    std::printf("%s\n", asyncwatch::event_line(event).c_str());
    ibv_ack_async_event(&event);
  }
  return errno;
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = nullptr;
  if (const auto status = parse_options(argc, argv, name)) return *status;
  // Whoever reads a pipe wants to see an event when it happens.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);

  const DeviceList list;
  if (list.error()) {
    std::fprintf(stderr, "%s\n", examples::why_no_list(list.error()).c_str());
    return failed;
  }
  ibv_device* device = find_device(list, name);
  if (!device) return failed;
  const char* device_name = ibv_get_device_name(device);
  errno = 0;
  ibv_context* context = ibv_open_device(device);
  if (!context) {
    const std::string why = examples::why_not_opened(device_name, device->dev_name, errno);
    std::fprintf(stderr, "Couldn't get context for %s: %s\n", device_name, why.c_str());
    return failed;
  }
  std::printf("%s: async event FD %d\n", device_name, context->async_fd);
  const int error = watch(context);
  examples::complain("no more events of %s: %s", device_name, std::strerror(error));
  ibv_close_device(context);
  return failed;
}
