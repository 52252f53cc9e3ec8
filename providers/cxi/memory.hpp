// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Memory without the C++ runtime: zeroed objects and arrays, and a guard for half-built ones.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace cxi {

/// Memory from malloc() that one variable owns.
template <class T>
class [[nodiscard]] Owned {
 public:
  Owned() = default;
  explicit Owned(T* pointer) noexcept : pointer_(pointer) {}
  Owned(Owned&& other) noexcept : pointer_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      std::free(pointer_);
      pointer_ = other.release();
    }
    return *this;
  }
  ~Owned() { std::free(pointer_); }

  T* get() const noexcept { return pointer_; }
  T* operator->() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  T* release() noexcept { return std::exchange(pointer_, nullptr); }

 private:
  T* pointer_ = nullptr;
};

/// One zeroed object; empty when memory is short. Zero is a valid start for every type used here.
template <class T>
Owned<T> allocate() noexcept {
  static_assert(std::is_trivially_destructible_v<T>);
  return Owned<T>(static_cast<T*>(std::calloc(1, sizeof(T))));
}

/// A zeroed array of at least one object; empty when memory is short.
template <class T>
Owned<T> allocate_array(std::size_t count) noexcept {
  static_assert(std::is_trivially_destructible_v<T>);
  return Owned<T>(static_cast<T*>(std::calloc(count ? count : 1, sizeof(T))));
}

/// Runs a function when it goes out of scope, unless it was dismissed.
template <class F>
class [[nodiscard]] Undo {
 public:
  explicit Undo(F f) noexcept : f_(f) {}
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    if (armed_) f_();
  }
  void dismiss() noexcept { armed_ = false; }

 private:
  F f_;
  bool armed_ = true;
};

}  // namespace cxi
