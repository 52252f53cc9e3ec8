// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <rdma/cxiverbs-abi.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "uverbs/call.hpp"
#include "uverbs/exported_jobs.hpp"
#include "uverbs/kernel_impl.hpp"
#include "uverbs/sysfs.hpp"

namespace sim::uverbs {
namespace {

// What every access to the NICs goes through. Whoever waits holds the entrance, so that the engine,
// which comes back at once, does not overtake a call; and it is seen, so that the engine leaves
// early.
class Gate {
 public:
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_(gate) {
      gate_.waiting_.fetch_add(1, std::memory_order_relaxed);
      std::lock_guard entrance(gate_.entrance_);
      gate_.inside_.lock();
      gate_.waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    ~Pass() { gate_.inside_.unlock(); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    Gate& gate_;
  };
  bool contended() const { return waiting_.load(std::memory_order_relaxed) != 0; }

 private:
  std::mutex entrance_, inside_;
  std::atomic<unsigned> waiting_{0};
};

constexpr unsigned first_minor = 192;       // of the infiniband_verbs class, major number 231
constexpr size_t largest_call = page_size;  // header and attributes (Linux uses a page)

class KernelImpl final : public Kernel {
 public:
  KernelImpl(const KernelConfig& config, nic::Clock& clock, nic::Trace& trace,
             const NicState::DeviceFactory& factory, std::shared_ptr<void> keep_alive)
      : keep_alive_(std::move(keep_alive)), trace_(trace) {
    for (unsigned i = 0; i < config.nics; ++i) {
      const std::string number = std::to_string(i);
      NicDescription description{"cxi" + number,  "uverbs" + number,
                                 "hsn" + number,  config.first_nid + i,
                                 first_minor + i, config.abi_version.value_or(CXI_ABI_VERSION)};
      nics_.push_back(std::make_unique<NicState>(std::move(description), config, clock, factory));
    }
  }

  std::vector<NicDescription> nics() const override {
    std::vector<NicDescription> all;
    for (const auto& nic : nics_)
      all.push_back(nic->description);
    return all;
  }

  std::vector<std::pair<std::string, std::string>> sysfs() const override {
    Gate::Pass pass(gate_);
    std::vector<std::pair<std::string, std::string>> files = class_files();
    for (const auto& nic : nics_) {
      auto more = nic_files(*nic);
      files.insert(files.end(), more.begin(), more.end());
    }
    return files;
  }

  std::shared_ptr<OpenFile> open(unsigned nic, Caller&, int* error) override {
    Gate::Pass pass(gate_);
    if (nic >= nics_.size()) {
      *error = ENXIO;
      return nullptr;
    }
    if (nics_[nic]->failed) {
      *error = EIO;
      return nullptr;
    }
    auto arena = Arena::make(error);
    if (!arena) return nullptr;
    // The last reference may go on another thread than the one that runs the NICs.
    return std::shared_ptr<OpenFile>(new File(*nics_[nic], std::move(arena)),
                                     [this](OpenFile* file) {
                                       Gate::Pass inner(gate_);
                                       delete file;
                                     });
  }

  int ioctl(OpenFile& open_file, Caller& caller, uint64_t arg) override {
    Gate::Pass pass(gate_);
    auto& file = static_cast<File&>(open_file);
    const Method* method = nullptr;
    int error = run(file, caller, arg, &method);
    if (trace_.enabled()) {
      std::string line = file.nic.description.ibdev + " ioctl " + (method ? method->name : "?");
      if (error) line += " refused: errno " + std::to_string(error);
      trace_.line(line);
    }
    if (!file.nic.failed) {
      file.nic.device->wake();
      file.nic.settle();
    }
    return error;
  }

  void release(OpenFile& open_file) override {
    Gate::Pass pass(gate_);
    auto& file = static_cast<File&>(open_file);
    file.destroy_all();
    file.nic.exported_jobs->prune();
  }

  bool step() override {
    Gate::Pass pass(gate_);
    bool any = false;
    // Begin with another NIC each time: with calls waiting, not all of them get their turn.
    for (size_t i = 0; i < nics_.size(); ++i) {
      NicState& nic = *nics_[next_nic_ = (next_nic_ + 1) % nics_.size()];
      if (!nic.failed) {
        any |= nic.device->step();
        any |= nic.settle();
      }
      if (gate_.contended()) return true;
    }
    return any;
  }

  std::optional<uint64_t> next_due_ns() override {
    Gate::Pass pass(gate_);
    std::optional<uint64_t> due;
    for (auto& nic : nics_) {
      auto at = nic->next_due_ns();
      if (at && (!due || *at < *due)) due = at;
    }
    return due;
  }

  bool quiet() override {
    Gate::Pass pass(gate_);
    return std::ranges::all_of(nics_, [](const auto& nic) { return nic->quiet(); });
  }

  void wake() override {
    Gate::Pass pass(gate_);
    for (auto& nic : nics_) {
      if (!nic->failed) nic->device->wake();
    }
  }

  int set_link(unsigned nic, bool up) override {
    Gate::Pass pass(gate_);
    if (nic >= nics_.size()) return ENXIO;
    if (nics_[nic]->failed) return EIO;
    nics_[nic]->set_link(up);
    return 0;
  }

  int fail_device(unsigned nic) override {
    Gate::Pass pass(gate_);
    if (nic >= nics_.size()) return ENXIO;
    nics_[nic]->fail();
    return 0;
  }

 private:
  static int run(File& file, Caller& caller, uint64_t arg, const Method** method) {
    ib_uverbs_ioctl_hdr header{};
    if (!caller.read(arg, std::as_writable_bytes(std::span(&header, 1)))) return EFAULT;
    const size_t expected = sizeof header + size_t{header.num_attrs} * sizeof(ib_uverbs_attr);
    if (header.length > largest_call || header.length != expected) return EINVAL;
    if (header.reserved1 != 0 || header.reserved2 != 0) return EPROTONOSUPPORT;
    if (file.nic.failed) return EIO;
    if (header.driver_id != RDMA_DRIVER_CXI) return EINVAL;
    *method = find_method(header.object_id, header.method_id);
    if (!*method) return EPROTONOSUPPORT;

    std::vector<ib_uverbs_attr> attrs(header.num_attrs);
    const uint64_t attrs_va = arg + sizeof header;
    if (!attrs.empty() && !caller.read(attrs_va, std::as_writable_bytes(std::span(attrs)))) {
      return EFAULT;
    }
    Call call(file, caller, **method, std::move(attrs), attrs_va);
    int error = call.parse();
    if (error == 0 && (*method)->needs_context && !file.has_context) error = EINVAL;
    if (error == 0) error = (*method)->run(call);
    if (error == 0) {
      error = call.finish();
    } else if (call.answers_refusal()) {
      // The refusal stands even if what explains it cannot be written.
      (void)call.copy_out();
    }
    return error;
  }

  mutable Gate gate_;
  std::shared_ptr<void> keep_alive_;
  nic::Trace& trace_;
  std::vector<std::unique_ptr<NicState>> nics_;
  size_t next_nic_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const KernelConfig& config, nic::Clock& clock,
                                    nic::Trace& trace, const NicState::DeviceFactory& factory,
                                    std::shared_ptr<void> keep_alive) {
  return std::make_unique<KernelImpl>(config, clock, trace, factory, std::move(keep_alive));
}

}  // namespace sim::uverbs
