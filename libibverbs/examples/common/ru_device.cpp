// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ru_device.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "devices.hpp"
#include "launcher.hpp"
#include "slingshot.hpp"
#include "text.hpp"

namespace examples {

namespace {

bool refused(const char* what, int error) {
  complain("%s: %s", what, std::strerror(error));
  return false;
}

}  // namespace

bool RuDevice::open(const RuWishes& wishes) {
  const DeviceList list;
  ibv_device* device =
      choose_device(list, wishes.options.device.empty() ? nullptr : wishes.options.device.c_str());
  if (!device) return false;
  name_ = ibv_get_device_name(device);
  arguments_ = wishes.options.arguments;
  slingshot_ = is_slingshot(*device);
  context_ = open_device(device);
  if (!context_ || !check(wishes) || !find_gid(wishes)) return false;
  if (wishes.options.events) {
    channel_ = ibv_create_comp_channel(context_);
    if (!channel_) return refused("no completion channel", errno);
  }
  return true;
}

bool RuDevice::check(const RuWishes& wishes) {
  const char* name = name_.c_str();
  ibv_device_attr_ex device{};
  if (int error = ibv_query_device_ex(context_, nullptr, &device))
    return refused("the device could not be queried", error);
  if (!(device.device_cap_flags_ex & IBV_DEVICE_RU)) {
    complain("%s has no reliable-unconnected service: choose another device with --ib-dev", name);
    return false;
  }
  for (const Need& need : wishes.needs) {
    if (device.device_cap_flags_ex & need.bit) continue;
    complain("%s has %s", name, need.missing);
    return false;
  }
  if (wishes.options.sges > static_cast<unsigned>(device.orig_attr.max_sge)) {
    complain("%s takes %d scatter-gather entries: use a smaller --sge", name,
             device.orig_attr.max_sge);
    return false;
  }
  const unsigned ports = device.orig_attr.phys_port_cnt;
  if (wishes.options.ib_port > ports) {
    complain("%s has no port %u: use --ib-port 1%s", name, wishes.options.ib_port,
             ports > 1 ? " or another one that ibv_devinfo lists" : "");
    return false;
  }
  const int max_wr = device.orig_attr.max_qp_wr;
  if (wishes.options.rx_depth > static_cast<unsigned>(max_wr)) {
    complain("%s takes %d receives: use a smaller --rx-depth", name, max_wr);
    return false;
  }
  return true;
}

bool RuDevice::find_gid(const RuWishes& wishes) {
  const char* name = name_.c_str();
  port_number_ = static_cast<std::uint8_t>(wishes.options.ib_port);
  if (int error = ibv_query_port(context_, port_number_, &port_))
    return refused("the port could not be queried", error);
  if (wishes.options.size > port_.max_msg_sz) {
    complain("%s sends messages of up to %u bytes: use a smaller --size", name, port_.max_msg_sz);
    return false;
  }
  const auto usual = slingshot_ ? std::optional(0U) : wishes.other_gid_index;
  if (!wishes.options.gid_index && !usual) {
    complain("invalid gid index: choose one with --gid-idx (ibv_devinfo -v lists them)");
    return false;
  }
  const unsigned index = wishes.options.gid_index ? *wishes.options.gid_index : *usual;
  if (index >= static_cast<unsigned>(port_.gid_tbl_len)) {
    complain("invalid gid index %u: port %u of %s has indices 0 to %d", index, port_number_, name,
             port_.gid_tbl_len - 1);
    return false;
  }
  ibv_gid_entry entry{};
  const int error = ibv_query_gid_ex(context_, port_number_, index, &entry, 0);
  if (error == ENODATA) {
    complain("invalid gid index %u: it is empty; ibv_devinfo -v lists those in use", index);
    return false;
  }
  if (error) return refused("the GID could not be queried", error);
  gid_index_ = static_cast<std::uint8_t>(index);
  gid_ = entry.gid;
  ifindex_ = entry.ndev_ifindex;
  return true;
}

bool RuDevice::make_job(std::optional<std::uint32_t> id, std::uint32_t other_id,
                        std::uint32_t entries) {
  const char* granted = std::getenv("SLINGSHOT_VNIS");
  job_attr_.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_PORT_NUM | IBV_JOB_ATTR_SGID_INDEX;
  job_attr_.id = id.value_or(slingshot_ ? first_vni(granted) : other_id);
  job_attr_.port_num = port_number_;
  job_attr_.sgid_index = gid_index_;
  if (entries) {
    job_attr_.comp_mask |= IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
    job_attr_.max_addr_entries = entries;
  }
  if (!id && job_attr_.id == 0) {
    complain("SLINGSHOT_VNIS is %s: it must start with a VNI, 1 to 65535", granted);
    return false;
  }
  if (slingshot_ && (job_attr_.id == 0 || job_attr_.id > UINT16_MAX)) {
    complain("a job of %s is a VNI: use a --job-id from 1 to 65535, not %u", name_.c_str(),
             job_attr_.id);
    return false;
  }
  // The first object of a context takes what the caller was granted, so the protection domain may
  // meet the same refusals as the job.
  pd_ = ibv_alloc_pd(context_);
  if (pd_) job_ = ibv_alloc_job(context_, &job_attr_, nullptr);
  if (!job_) {
    const std::uint32_t vni = slingshot_ ? job_attr_.id : 0;
    const int error = errno;
    if (slingshot_ && (error == EPERM || error == EKEYREVOKED))
      run_under_launcher(name_, vni, arguments_);
    complain("%s", why_no_grant(name_.c_str(), vni, error).c_str());
    return false;
  }
  key_ = ibv_create_jkey(pd_, job_, 0);
  if (!key_) return refused("no job key", errno);
  return true;
}

ibv_ah_attr_ex RuDevice::way_to(const ibv_gid& gid, std::uint32_t qpn) const {
  ibv_ah_attr_ex way;
  std::memset(&way, 0, sizeof(way));  // the padding too: who compares two of them sees all of it
  way.ah_attr.is_global = 1;
  way.ah_attr.grh.hop_limit = 1;
  way.ah_attr.grh.dgid = gid;
  way.ah_attr.grh.sgid_index = gid_index_;
  way.ah_attr.port_num = port_number_;
  way.remote_qpn = qpn;
  return way;
}

bool RuDevice::close() {
  bool all = true;
  if (key_)
    all = destroyed("the job key stays", ibv_destroy_jkey(std::exchange(key_, nullptr))) && all;
  if (job_) all = destroyed("the job stays", ibv_dealloc_job(std::exchange(job_, nullptr))) && all;
  if (pd_)
    all = destroyed("the protection domain stays", ibv_dealloc_pd(std::exchange(pd_, nullptr))) &&
          all;
  if (channel_)
    all = destroyed("the completion channel stays",
                    ibv_destroy_comp_channel(std::exchange(channel_, nullptr))) &&
          all;
  if (context_)
    all = destroyed("the device stays open", ibv_close_device(std::exchange(context_, nullptr))) &&
          all;
  return all;
}

bool destroyed(const char* what, int error) {
  return error ? refused(what, error) : true;
}

}  // namespace examples
