// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "grant.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "refusal.hpp"
#include "resources.hpp"

namespace launcher {
namespace {

using DeviceList = std::unique_ptr<ibv_device*, void (*)(ibv_device**)>;

bool is_cassini(ibv_device* device) {
  return cxidv_is_supported(device);
}

/// The devices that the command line names, in its order, or all.
std::vector<ibv_device*> choose(ibv_device** list, const std::vector<std::string>& names) {
  std::vector<ibv_device*> all, chosen;
  for (; *list; list++)
    if (is_cassini(*list)) all.push_back(*list);
  if (all.empty()) throw Refusal("this machine has no Cassini NIC: see ibv_devices");
  if (names.empty()) return all;
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(
        all, [&name](ibv_device* device) { return name == ibv_get_device_name(device); });
    if (found == all.end()) {
      std::string there;
      for (ibv_device* device : all)
        there += (there.empty() ? "" : ", ") + std::string(ibv_get_device_name(device));
      throw Refusal("--device: there is no Cassini NIC \"" + name + "\": there are " + there);
    }
    if (std::ranges::find(chosen, *found) != chosen.end())
      throw Refusal("--device: " + name + " is named twice");
    chosen.push_back(*found);
  }
  return chosen;
}

cxidv_svc_attr describe(const Options& options, uid_t user, const cxidv_device_attr& device) {
  cxidv_svc_attr attr = {};
  attr.flags = CXIDV_SVC_ENABLED;
  if (options.vnis.range) attr.flags |= CXIDV_SVC_VNI_RANGE;
  attr.num_vnis = static_cast<std::uint32_t>(options.vnis.list.size());
  std::ranges::copy(options.vnis.list, attr.vnis);
  attr.tc_mask = options.tc_mask;
  attr.members[0] = {CXIDV_MEMBER_UID, user};
  for (std::size_t kind = 0; kind < resources.size(); kind++) {
    const Limit& limit = options.limits[kind];
    const bool counted = limit.named && !limit.all;
    attr.limits[kind].max = counted ? limit.count : device.*resources[kind].on_device;
    attr.limits[kind].reserved = counted ? limit.count : 0;
    if (limit.named) attr.flags |= CXIDV_SVC_LIMITED;
  }
  return attr;
}

/// How much of everything is left. A service without reservations, which nobody could use, tells.
void ask_what_is_free(ibv_context* context, cxidv_svc_attr& attr) {
  cxidv_svc_attr question = attr;
  question.flags &= ~static_cast<std::uint32_t>(CXIDV_SVC_ENABLED | CXIDV_SVC_LIMITED);
  std::memset(question.limits, 0, sizeof(question.limits));
  cxidv_svc* svc = cxidv_alloc_svc(context, &question);
  for (std::size_t kind = 0; kind < resources.size(); kind++)
    attr.limits[kind].free = question.limits[kind].free;
  if (svc) cxidv_destroy_svc(svc);
}

/// Names the first resource of which there is not enough.
void refuse_shortage(const std::string& name, const cxidv_svc_attr& attr,
                     const cxidv_device_attr& device) {
  for (std::size_t kind = 0; kind < resources.size(); kind++) {
    const cxidv_svc_limit& limit = attr.limits[kind];
    const std::uint32_t total = device.*resources[kind].on_device;
    if (limit.reserved <= limit.free && limit.max <= total) continue;
    throw Refusal(name + ": " + std::to_string(limit.reserved) + " " + resources[kind].words +
                  " are asked for (" + resources[kind].option + "), " + std::to_string(limit.free) +
                  " are free, the device has " + std::to_string(total));
  }
}

[[noreturn]] void refuse(const std::string& name, ibv_context* context, cxidv_svc_attr& attr,
                         const cxidv_device_attr& device, int error) {
  switch (error) {
    case EPERM:
      throw Refusal(name + ": granting needs CAP_SYS_ADMIN: run cxi_launcher as root");
    case EEXIST:
      throw Refusal(name + ": the VNIs " + std::to_string(attr.vnis[0]) + "-" +
                    std::to_string(attr.vnis[1]) +
                    " overlap the range of another service: choose others");
    case EINVAL:  // more than the device has
      ask_what_is_free(context, attr);
      [[fallthrough]];
    case ENOSPC:
      refuse_shortage(name, attr, device);
      [[fallthrough]];
    default:
      throw Refusal(name + ": the service cannot be made: " + std::strerror(error));
  }
}

Grant::Service make_service(ibv_device* device, const Options& options, uid_t user) {
  Grant::Service service = {
      ibv_get_device_name(device), {nullptr, ibv_close_device}, {nullptr, cxidv_destroy_svc}};
  const cxidv_open_attr open = {};
  service.context.reset(cxidv_open_device(device, &open));
  if (!service.context)
    throw Refusal(service.device + " cannot be opened: " + std::strerror(errno));
  cxidv_device_attr has = {};
  if (const int error = cxidv_query_device(service.context.get(), &has, sizeof(has)))
    throw Refusal(service.device + " cannot be queried: " + std::strerror(error));
  cxidv_svc_attr attr = describe(options, user, has);
  service.svc.reset(cxidv_alloc_svc(service.context.get(), &attr));
  if (!service.svc) refuse(service.device, service.context.get(), attr, has, errno);
  return service;
}

/// What a program has made goes a little after the program itself.
bool take_back_one(cxidv_svc* svc) {
  for (unsigned tries = 0; tries < 20; tries++) {
    const int error = cxidv_destroy_svc(svc);
    if (error != EBUSY) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

}  // namespace

Grant::Grant(const Options& options, uid_t user) {
  const DeviceList list(ibv_get_device_list(nullptr), ibv_free_device_list);
  if (!list && errno != ENOSYS)  // which says that there are no RDMA devices at all
    throw Refusal(std::string("the NICs cannot be listed: ") + std::strerror(errno));
  ibv_device* none = nullptr;
  for (ibv_device* device : choose(list ? list.get() : &none, options.devices))
    services_.push_back(make_service(device, options, user));
}

std::vector<std::string> Grant::take_back() {
  std::vector<std::string> used;
  while (!services_.empty()) {
    Service& service = services_.back();
    if (!take_back_one(service.svc.release())) used.push_back(service.device);
    services_.pop_back();
  }
  return used;
}

}  // namespace launcher
