// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_devinfo: what the devices of this machine are and can do.
#include <getopt.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "../common/devices.hpp"
#include "../common/text.hpp"
#include "blocks.hpp"

namespace {

using namespace devinfo;
using examples::DeviceList;

// Exit statuses: scripts look at them.
enum : int {
  ok = 0,
  open_failed = 1,
  query_failed = 2,
  close_failed = 3,
  port_failed = 4,
  bad = -1
};

struct Options {
  std::string device;
  int port = 0;  // 0: all of them
  bool verbose = false;
};

void usage(const char* program) {
  std::printf(
      "Usage: %s [options]\n"
      "\n"
      "Options:\n"
      "  -d, --ib-dev=NAME  only this device\n"
      "  -i, --ib-port=N    only this port\n"
      "  -l, --list         only the names of the devices\n"
      "  -v, --verbose      everything that is known\n",
      program);
}

int no_list(int error) {
  std::fprintf(stderr, "%s\n", examples::why_no_list(error).c_str());
  return bad;
}

int list_names() {
  const DeviceList list;
  if (list.error()) return no_list(list.error());
  const auto devices = list.devices();
  std::printf("%zu HCA%s found:\n", devices.size(), devices.size() == 1 ? "" : "s");
  for (ibv_device* device : devices)
    std::printf("\t%s\n", ibv_get_device_name(device));
  std::printf("\n");
  return ok;
}

/// The exit status where the program is to end.
std::optional<int> parse_options(int argc, char** argv, Options& options) {
  const option long_options[] = {{"ib-dev", required_argument, nullptr, 'd'},
                                 {"ib-port", required_argument, nullptr, 'i'},
                                 {"list", no_argument, nullptr, 'l'},
                                 {"verbose", no_argument, nullptr, 'v'},
                                 {}};
  for (;;) {
    switch (getopt_long(argc, argv, "d:i:lv", long_options, nullptr)) {
      case -1:
        return std::nullopt;
      case 'd':
        options.device = optarg;
        break;
      case 'i':
        options.port = static_cast<int>(examples::number(optarg, 1, INT32_MAX).value_or(0));
        if (options.port == 0) {
          examples::complain("--ib-port must be a number from 1, not %s", optarg);
          usage(argv[0]);
          return 1;
        }
        break;
      case 'l':
        return list_names();
      case 'v':
        options.verbose = true;
        break;
      default:
        usage(argv[0]);
        return bad;
    }
  }
}

std::string board_id(const ibv_device& device) {
  std::ifstream file(std::string(device.ibdev_path) + "/board_id");
  std::string line;
  std::getline(file, line);
  return line;
}

/// The entries that are in use. -1 after a complaint.
int query_gids(ibv_context* context, PortFacts& port) {
  for (int index = 0; index < port.attr.gid_tbl_len; index++) {
    ibv_gid_entry entry{};
    const int error =
        ibv_query_gid_ex(context, port.number, static_cast<std::uint32_t>(index), &entry, 0);
    if (error == ENODATA) continue;
    if (error) {
      std::fprintf(stderr, "Failed to query gid to port %u, index %d\n", port.number, index);
      return bad;
    }
    port.gids.push_back(entry);
  }
  return ok;
}

int print_port(ibv_context* context, unsigned number, enum ibv_transport_type transport,
               bool verbose) {
  PortFacts port;
  port.number = number;
  if (int error = ibv_query_port(context, static_cast<std::uint8_t>(number), &port.attr)) {
    std::fprintf(stderr, "Failed to query port %u props\n", number);
    return error;
  }
  int status = ok;
  if (verbose) {
    std::uint64_t speed = 0;
    if (ibv_query_port_speed(context, number, &speed) == 0) port.speed = speed;
    status = query_gids(context, port);
  }
  std::fputs(port_block(port, transport, verbose).c_str(), stdout);
  return status;
}

int print_open_device(ibv_device* device, ibv_context* context, const Options& options) {
  DeviceFacts facts;
  if (ibv_query_device_ex(context, nullptr, &facts.attr) != 0) {
    std::fprintf(stderr, "Failed to query device props\n");
    return query_failed;
  }
  const int ports = facts.attr.orig_attr.phys_port_cnt;
  if (options.port > ports) {
    std::fprintf(stderr, "Invalid port requested for device: %s has ports 1 to %d\n",
                 ibv_get_device_name(device), ports);
    return port_failed;
  }
  facts.name = ibv_get_device_name(device);
  facts.transport = device->transport_type;
  facts.board_id = board_id(*device);
  facts.num_comp_vectors = context->num_comp_vectors;
  ibv_comp_cntr_caps caps{};
  if (options.verbose && ibv_query_comp_cntr_caps(context, &caps) == 0) facts.comp_cntr = caps;
  std::fputs(device_block(facts, options.verbose).c_str(), stdout);

  const int first = options.port ? options.port : 1;
  const int last = options.port ? options.port : ports;
  for (int port = first; port <= last; port++) {
    const int status =
        print_port(context, static_cast<unsigned>(port), facts.transport, options.verbose);
    if (status) return status;
  }
  return ok;
}

int print_device(ibv_device* device, const Options& options) {
  errno = 0;
  ibv_context* context = ibv_open_device(device);
  if (!context) {
    const std::string why =
        examples::why_not_opened(ibv_get_device_name(device), device->dev_name, errno);
    std::fprintf(stderr, "Failed to open device: %s\n", why.c_str());
    return open_failed;
  }
  int status = print_open_device(device, context, options);
  if (ibv_close_device(context) != 0) {
    std::fprintf(stderr, "Failed to close device\n");
    status |= close_failed;
  }
  return status;
}

int print_all(const Options& options) {
  const DeviceList list;
  if (list.error()) return no_list(list.error());
  const auto devices = list.devices();
  if (!options.device.empty()) {
    ibv_device* device = list.find(options.device.c_str());
    if (!device) {
      const std::string hint =
          devices.empty() ? examples::why_no_device() : "choose one of " + list.names();
      std::fprintf(stderr, "IB device '%s' wasn't found: %s\n", options.device.c_str(),
                   hint.c_str());
      return bad;
    }
    return print_device(device, options);
  }
  if (devices.empty()) {
    std::fprintf(stderr, "No IB devices found: %s\n", examples::why_no_device().c_str());
    return bad;
  }
  int status = ok;
  for (ibv_device* device : devices)
    status |= print_device(device, options);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto early = parse_options(argc, argv, options);
  const int status = early ? *early : print_all(options);
  return examples::output_written() || status ? status : 1;
}
