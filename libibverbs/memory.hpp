// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Memory without the C++ runtime: zeroed single objects, and an array that grows.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace verbs {

// Memory that malloc() gave, owned by one variable.
template <class T>
class [[nodiscard]] Owned {
 public:
  Owned() = default;
  explicit Owned(T* pointer) noexcept : pointer_(pointer) {}
  Owned(Owned&& other) noexcept : pointer_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      free(pointer_);
      pointer_ = other.release();
    }
    return *this;
  }
  ~Owned() { free(pointer_); }

  T* get() const noexcept { return pointer_; }
  T* operator->() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  T* release() noexcept { return std::exchange(pointer_, nullptr); }

 private:
  T* pointer_ = nullptr;
};

// A zeroed object of a C type; empty when memory is short.
template <class T>
Owned<T> allocate() noexcept {
  static_assert(std::is_trivially_destructible_v<T>);
  return Owned<T>(static_cast<T*>(calloc(1, sizeof(T))));
}

// An array of pointers or other plain values that grows. This form is for variables that live as
// long as the process: nothing runs at its end, when other threads may still use them.
template <class T>
class GlobalArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  constexpr GlobalArray() = default;
  GlobalArray(const GlobalArray&) = delete;
  GlobalArray& operator=(const GlobalArray&) = delete;

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](size_t i) noexcept { return items_[i]; }
  const T& operator[](size_t i) const noexcept { return items_[i]; }
  T* begin() noexcept { return items_; }
  T* end() noexcept { return items_ + size_; }
  void clear() noexcept {
    free(items_);
    items_ = nullptr;
    size_ = 0;
    room_ = 0;
  }

  // Room for so many items. False, and nothing changed, when memory is short.
  [[nodiscard]] bool reserve(size_t count) noexcept {
    if (count <= room_) return true;
    size_t room = room_ ? room_ : 8;
    while (room < count)
      room *= 2;
    auto* items = static_cast<T*>(reallocarray(items_, room, sizeof(T)));
    if (!items) return false;
    items_ = items;
    room_ = room;
    return true;
  }

  // One more item, on the same terms.
  [[nodiscard]] bool push(const T& item) noexcept {
    if (!reserve(size_ + 1)) return false;
    items_[size_++] = item;
    return true;
  }

  // Puts one item before another, on the same terms.
  [[nodiscard]] bool insert(size_t i, const T& item) noexcept {
    if (!push(item)) return false;
    memmove(items_ + i + 1, items_ + i, (size_ - 1 - i) * sizeof(T));
    items_[i] = item;
    return true;
  }

  // Takes one item out; the others keep their order.
  void remove(size_t i) noexcept {
    memmove(items_ + i, items_ + i + 1, (size_ - i - 1) * sizeof(T));
    size_--;
  }

 private:
  T* items_ = nullptr;
  size_t size_ = 0;
  size_t room_ = 0;
};

// The same for the length of a block.
template <class T>
class Array : public GlobalArray<T> {
 public:
  ~Array() { this->clear(); }
};

}  // namespace verbs
