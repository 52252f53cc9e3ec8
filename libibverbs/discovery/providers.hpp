// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The providers of this process: those that registered themselves, and how more are loaded.
#pragma once

#include <infiniband/driver.h>

#include <atomic>

namespace verbs {

// In the order of registration. A provider registers itself when it is loaded, by us or by the
// program, on any thread and at any time, also while the list is being read: it only grows.
class Providers {
 public:
  struct Entry {
    const verbs_device_ops* ops;
    std::atomic<Entry*> next;
  };
  class Iterator {
   public:
    explicit Iterator(const Entry* at) noexcept : at_(at) {}
    const verbs_device_ops* operator*() const noexcept { return at_->ops; }
    Iterator& operator++() noexcept {
      at_ = at_->next.load(std::memory_order_acquire);
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Entry* at_;
  };

  constexpr Providers() = default;
  Providers(const Providers&) = delete;
  Providers& operator=(const Providers&) = delete;

  const Entry* first() const noexcept { return first_.load(std::memory_order_acquire); }
  Iterator begin() const noexcept { return Iterator(first()); }
  Iterator end() const noexcept { return Iterator(nullptr); }
  // False, and nothing changed, when memory is short.
  [[nodiscard]] bool push(const verbs_device_ops* ops) noexcept;
  // An entry that lives as long as the list.
  void append(Entry& entry) noexcept;

 private:
  std::atomic<Entry*> first_ = nullptr;
};
Providers& registered_providers() noexcept;

// Loads what the environment and the configuration name. Providers register themselves meanwhile.
// 0, or an errno value when there was no memory or descriptor for it; those that are loaded stay
// so.
[[nodiscard]] int load_providers() noexcept;

// The best match of a provider for a device: its table, then its own word. On a match, record.match
// is the entry that matched, if the table has one.
bool provider_matches(const verbs_device_ops& provider, verbs_sysfs_dev& record) noexcept;

}  // namespace verbs
