// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A process with an open device: its memory, its mappings, its calls, and one of every object.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "nic/tests/driver.hpp"
#include "uverbs/tests/kernel_fixture.hpp"

namespace sim::fuzz {

using nic::testing::CommandWriter;
using nic::testing::EventReader;
using uverbs::test::buffer_va;
using uverbs::test::FakeCaller;
using uverbs::test::Ioctl;

struct Silence final : nic::Trace {
  bool enabled() const override { return false; }
  void line(std::string_view) override {}
};

// Aborts, which is how a fuzzer learns of a mistake.
void must(bool holds, const char* what);

// The pages of an open device, mapped as a whole and no further than they go.
class Window {
 public:
  explicit Window(int fd);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Empty: not within the pages that the descriptor has.
  std::span<std::byte> at(uint64_t cookie, uint64_t bytes) const;
  // Everything there is.
  std::span<std::byte> all() const;

 private:
  static constexpr size_t most = size_t{64} << 20;
  int fd_;
  std::byte* memory_;
};

using Handles = std::vector<std::pair<uint16_t, uint64_t>>;

class Program {
 public:
  Program(uverbs::Kernel& kernel, unsigned nic, uid_t uid, uint32_t service);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  uverbs::File& file() const { return static_cast<uverbs::File&>(*open_); }
  int issue(Ioctl& ioctl);
  int issue(uint64_t address);

  using Answer = uverbs::test::NativeAnswer;
  template <class Req>
  Answer native(uint16_t object, uint16_t method, const Req& req, size_t resp_bytes,
                const Handles& handles = {{CXI_ATTR_HANDLE, 0}}) {
    Ioctl ioctl(caller, object, method);
    for (auto [id, value] : handles)
      ioctl.handle(id, value);
    ioctl.in(CXI_ATTR_REQ, req);
    if (resp_bytes != 0) ioctl.out(CXI_ATTR_RESP, resp_bytes);
    const int error = issue(ioctl);
    return {error, ioctl};
  }
  // A call whose only input is a handle; its answer, if it has one.
  template <class Resp>
  Resp query(uint16_t object, uint16_t method, uint32_t handle) {
    Ioctl ioctl(caller, object, method);
    ioctl.handle(CXI_ATTR_HANDLE, handle).out(CXI_ATTR_RESP, sizeof(Resp));
    must(issue(ioctl) == 0, "query");
    return ioctl.result<Resp>(CXI_ATTR_RESP);
  }
  int destroy(uint16_t object, uint16_t method, uint16_t attr, uint32_t handle);

  // One of everything, in a VNI at a PID: queues, a portal entry with entries in its lists, a
  // counter.
  void set_up(uint16_t vni, unsigned pid);
  // The same of the standard objects: a queue pair with its region.
  void set_up_verbs(uint16_t vni);
  void run(uverbs::Kernel& kernel, unsigned steps = 200);

  FakeCaller caller;
  unsigned nic;
  uint32_t lni = 0, cp = 0, trigger_cp = 0, domain = 0, md = 0, eq = 0, pte = 0, ct = 0;
  uint32_t txq = 0, tgq = 0, trigger_queue = 0;  // handles
  uint32_t pd = 0, cq = 0, job = 0, jkey = 0, qp = 0, mr = 0;
  unsigned pid = 0, eqn = 0, pte_number = 0, ct_number = 0, lac = 0;
  uint64_t iova_delta = 0;            // of the memory descriptor
  std::vector<CommandWriter> queues;  // transmit, target, triggers; then the queue pair's
  EventReader events{4};

  uint64_t iova(uint64_t va) const { return (va + iova_delta) & ((uint64_t{1} << 57) - 1); }
  const Window& window() const { return *window_; }
  // The ring and doorbell of a queue that has been made.
  void add_queue(const cxi_abi_cmdq_info& info, bool triggered);

 private:
  uverbs::Kernel& kernel_;
  std::shared_ptr<uverbs::OpenFile> open_;
  std::unique_ptr<Window> window_;
};

}  // namespace sim::fuzz
