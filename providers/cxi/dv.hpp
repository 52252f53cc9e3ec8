// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the files of direct verbs (dv_*.cpp) share: the library's structures around the public ones,
// and the way into the kernel.
#pragma once

#include <infiniband/cxidv.h>

#include <algorithm>

#include "command.hpp"
#include "objects.hpp"
#include "rdma/cxiverbs-abi.h"

// What leaves the library; its version stands in libcxiverbs.map.
#define CXIDV_EXPORT extern "C" __attribute__((visibility("default")))

namespace cxi {

/// Whether this library drives the device. In device.cpp.
bool drives(const ibv_device& device) noexcept;

namespace dv {

/// Numbers of the public header that go to the kernel as they are.
template <class Public, class Kernel>
consteval bool same(Public ours, Kernel kernels) {
  return static_cast<std::uint32_t>(ours) == static_cast<std::uint32_t>(kernels);
}

/// A native object: the structure that programs see, and what is behind it.
template <class Public>
struct Object {
  Public pub;  // first, so that programs' pointers lead here
  NativeLink link;
  std::uint32_t handle;
};

using Svc = Object<cxidv_svc>;
using Lni = Object<cxidv_lni>;  // handle NONE: the context's own
using Cp = Object<cxidv_cp>;
using Domain = Object<cxidv_domain>;
using Pte = Object<cxidv_pte>;

struct Md : Object<cxidv_md> {
  bool kept_from_children;  // its pages are not copied by fork()
};

struct Ct : Object<cxidv_ct> {
  std::byte* page;  // of the doorbell
};

struct Cmdq : Object<cxidv_cmdq> {
  std::byte* launch_page;
};

struct Eq : Object<cxidv_eq> {
  std::byte* state_page;
  // Of a resize that has not been crossed yet; 0 bytes: there is none.
  std::uint64_t next_cookie;
  std::size_t next_bytes;
  std::byte* next_ring;  // once it is mapped
  std::uint32_t flags;
  std::atomic<Cq*> reader;  // the CQ that it serves; null: the program reads it
  pthread_mutex_t mutex;
  pthread_cond_t acknowledged;
  std::uint32_t acks;
};

template <class T, class Public>
T& object_of(const Public* pub) noexcept {
  return *reinterpret_cast<T*>(const_cast<Public*>(pub));
}
inline Lni& lni_of(const cxidv_lni* lni) noexcept {
  return object_of<Lni>(lni);
}
template <class T>
T& object_of_link(NativeLink& link) noexcept {
  using Base = Object<decltype(T::pub)>;
  auto* base = reinterpret_cast<Base*>(reinterpret_cast<std::byte*>(&link) - offsetof(Base, link));
  return *static_cast<T*>(base);
}

/// The context behind a public one. Returns 0, EINVAL where there is none, or EOPNOTSUPP where this
/// library does not drive the device.
int find_context(const ibv_context* ibv, Context*& context) noexcept;
/// The context of an object on a logical NI.
inline Context& context_of(const cxidv_lni* lni) noexcept {
  return cxi::context_of(lni->context);
}

/// The context of any object. Its logical NI does not matter: where the device is gone a program
/// may have destroyed that before, as nobody was there to say EBUSY.
template <class Public>
Context& context_of(const Object<Public>& object) noexcept {
  return *object.link.context;
}

/// Hangs an object in its context's list, or takes it out. forget() frees the library's side of it,
/// also when the context closes before the object was destroyed.
void enlist(Context& context, NativeLink& link, void (*forget)(NativeLink&)) noexcept;
void delist(NativeLink& link) noexcept;

/// Objects that have nothing but memory behind them.
template <class T>
void forget_memory(NativeLink& link) noexcept {
  std::free(&object_of_link<T>(link));
}

/// Runs a command. Returns 0 or an errno value.
template <unsigned Room>
[[nodiscard]] int run(Context& context, Command<Room>& command) noexcept {
  const int err = command.execute(context.ibv.context);
  if (err == EIO) context.dead = true;
  return err;
}

/// Names the logical NI of a command, if it is not the context's own.
template <unsigned Room>
void on_lni(Command<Room>& command, const cxidv_lni* lni) noexcept {
  const std::uint32_t handle = lni_of(lni).handle;
  if (handle != CXI_ABI_HANDLE_NONE) command.object_in(CXI_ATTR_LNI_HANDLE, handle);
}

/// Asks the kernel for an object on a logical NI; add(command) names what it is made on beside
/// that, two things at most. Returns 0 and the handle, or an errno value.
template <class Request, class Answer, class Add>
[[nodiscard]] int ask_for(const cxidv_lni* lni, std::uint16_t type, std::uint16_t method,
                          const Request& request, Answer& answer, std::uint32_t& handle,
                          Add add) noexcept {
  Command<6> command(type, method);
  const unsigned made = command.object_out(CXI_ATTR_HANDLE);
  on_lni(command, lni);
  add(command);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, answer);
  if (const int err = run(context_of(lni), command)) return err;
  handle = command.handle(made);
  return 0;
}
template <class Request, class Answer>
[[nodiscard]] int ask_for(const cxidv_lni* lni, std::uint16_t type, std::uint16_t method,
                          const Request& request, Answer& answer, std::uint32_t& handle) noexcept {
  return ask_for(lni, type, method, request, answer, handle, [](Command<6>&) {});
}

/// Lets the kernel destroy an object. Returns 0 or an errno value; 0 where the device is gone,
/// since then the kernel's side has gone with it.
int destroy(Context& context, std::uint16_t type, std::uint16_t method,
            std::uint32_t handle) noexcept;

/// The same, and then frees the library's side of it.
template <class T>
int destroy(T& object, std::uint16_t type, std::uint16_t method) noexcept {
  if (const int err = destroy(context_of(object), type, method, object.handle)) return err;
  delist(object.link);
  object.link.forget(object.link);
  return 0;
}

/// Map the register space into the program, or unmap it. Return 0 or an errno value. In dv_csr.cpp.
int map_registers(Context& context, volatile void*& base, std::size_t& length) noexcept;
int unmap_registers(Context& context) noexcept;

/// Whether a structure of the program can be filled: EINVAL where it is shorter than the first one
/// was.
template <class T>
int check_room(const T* out, std::size_t bytes, std::size_t first_bytes = sizeof(T)) noexcept {
  return out && bytes >= first_bytes ? 0 : EINVAL;
}

/// Fills it as far as it goes, and clears what is beyond. Returns as check_room() does.
template <class T>
int fill(T* out, std::size_t bytes, const T& value, std::size_t first_bytes = sizeof(T)) noexcept {
  if (const int err = check_room(out, bytes, first_bytes)) return err;
  std::memcpy(out, &value, std::min(bytes, sizeof(value)));
  if (bytes > sizeof(value))
    std::memset(reinterpret_cast<std::byte*>(out) + sizeof(value), 0, bytes - sizeof(value));
  return 0;
}

}  // namespace dv
}  // namespace cxi
