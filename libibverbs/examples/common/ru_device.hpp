// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What every program of the reliable-unconnected service needs first: an open device that can do
// it, a port with a GID, and a job.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ru_options.hpp"

namespace examples {

/// A capability bit that the program needs, and what follows "DEVICE has" where it is missing.
struct Need {
  std::uint64_t bit;
  const char* missing;
};

/// What the program asks of the device.
struct RuWishes {
  explicit RuWishes(const RuOptions& of) : options(of) {}

  const RuOptions& options;                 ///< without a GID index: 0 on Slingshot
  std::optional<unsigned> other_gid_index;  ///< elsewhere; empty: must be given
  std::vector<Need> needs;                  ///< besides the service itself
};

/// Everything up to the job key. What fails is explained once, in one line, by the function that
/// returns false.
class RuDevice {
 public:
  RuDevice() = default;
  ~RuDevice() { static_cast<void>(close()); }
  RuDevice(const RuDevice&) = delete;
  RuDevice& operator=(const RuDevice&) = delete;

  /// Opens the device, checks what it can do, finds the GID; makes the completion channel where
  /// events are wished for.
  [[nodiscard]] bool open(const RuWishes& wishes);

  /// Makes the protection domain, the job and its key. Without an id the job is the first granted
  /// VNI on Slingshot, and other_id elsewhere. entries is the size of its address table. Where a
  /// Slingshot device refuses the VNI, the program starts again under cxi_launcher if there is one.
  [[nodiscard]] bool make_job(std::optional<std::uint32_t> id, std::uint32_t other_id,
                              std::uint32_t entries = 0);

  /// Destroys everything, newest first.
  [[nodiscard]] bool close();

  bool slingshot() const { return slingshot_; }
  ibv_context* context() const { return context_; }
  ibv_comp_channel* channel() const { return channel_; }  ///< null without events
  ibv_pd* pd() const { return pd_; }
  ibv_job* job() const { return job_; }
  ibv_job_key* key() const { return key_; }
  std::uint32_t job_id() const { return job_attr_.id; }
  const ibv_job_attr& job_attr() const { return job_attr_; }
  const ibv_port_attr& port() const { return port_; }
  std::uint8_t port_number() const { return port_number_; }
  const ibv_gid& gid() const { return gid_; }
  unsigned ifindex() const { return ifindex_; }  ///< of the interface with the GID's address, or 0

  /// The way to a queue pair behind a GID.
  ibv_ah_attr_ex way_to(const ibv_gid& gid, std::uint32_t qpn) const;

 private:
  bool check(const RuWishes& wishes);
  bool find_gid(const RuWishes& wishes);

  std::string name_;
  bool slingshot_ = false;
  std::vector<std::string> arguments_;
  ibv_context* context_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_job* job_ = nullptr;
  ibv_job_key* key_ = nullptr;
  ibv_job_attr job_attr_{};
  ibv_port_attr port_{};
  std::uint8_t port_number_ = 1;
  std::uint8_t gid_index_ = 0;
  ibv_gid gid_{};
  unsigned ifindex_ = 0;
};

/// Whether a destroying call succeeded; says what stays where it did not.
bool destroyed(const char* what, int error);

}  // namespace examples
