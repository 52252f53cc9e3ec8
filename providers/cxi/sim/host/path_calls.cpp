// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The calls that name a file, and those that describe one.
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "host/dispatcher.hpp"

namespace sim::host {
namespace {

// The C library's structures are the kernel's on 64-bit platforms; programs get them byte by byte.
#if defined(__x86_64__)
static_assert(sizeof(struct stat) == 144 && offsetof(struct stat, st_rdev) == 40);
#elif defined(__aarch64__)
static_assert(sizeof(struct stat) == 128 && offsetof(struct stat, st_rdev) == 32);
#endif
static_assert(sizeof(struct statx) == 256 && offsetof(struct statx, stx_rdev_major) == 128);

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

template <class T>
void copy_out(TrappedCaller& caller, Answer& answer, uint64_t to, const T& value) {
  if (caller.write(to, bytes_of(value)))
    answer.value(0);
  else
    answer.refuse(EFAULT);
}

bool writes(uint64_t flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | O_APPEND)) != 0;
}

void describe(const struct stat& from, struct statx* to) {
  to->stx_mode = static_cast<uint16_t>(from.st_mode);
  to->stx_nlink = static_cast<uint32_t>(from.st_nlink);
  to->stx_uid = from.st_uid;
  to->stx_gid = from.st_gid;
  to->stx_size = static_cast<uint64_t>(from.st_size);
  to->stx_blocks = static_cast<uint64_t>(from.st_blocks);
  to->stx_rdev_major = major(from.st_rdev);
  to->stx_rdev_minor = minor(from.st_rdev);
}

}  // namespace

// --- open ---

void Dispatcher::on_open(Call& call) {
  open_at(call, {.text = call.request.args[0]}, call.request.arg<uint32_t>(1),
          call.request.arg<unsigned>(2));
}

void Dispatcher::on_openat(Call& call) {
  open_at(call, {.folder = call.request.arg<int>(0), .text = call.request.args[1]},
          call.request.arg<uint32_t>(2), call.request.arg<unsigned>(3));
}

void Dispatcher::on_openat2(Call& call) {
  open_how how{};
  auto bytes = std::as_writable_bytes(std::span(&how, 1));
  if (call.request.args[3] < sizeof(how) ||
      read_task(call.request.task, call.request.args[2], bytes.data(), bytes.size()) !=
          static_cast<ssize_t>(bytes.size()))
    return call.answer.proceed();  // the kernel finds the right error
  open_at(
      call,
      {.folder = call.request.arg<int>(0), .text = call.request.args[1], .resolve = how.resolve},
      how.flags, static_cast<unsigned>(how.mode));
}

void Dispatcher::open_at(Call& call, PathArgument argument, uint64_t flags, unsigned mode) {
  // O_CREAT with O_EXCL does not follow a link either (open(2)).
  argument.follow_last =
      (flags & O_NOFOLLOW) == 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
  auto located = locate(call, argument);
  switch (located.where) {
    case Located::Where::refused:
      // The tree takes no new files, from nobody.
      if (located.error == ENOENT && located.place.only_last_missing && (flags & O_CREAT) != 0)
        located.error = EACCES;
      return call.answer.refuse(located.error);
    case Located::Where::node:
      return open_node(call, *located.place.node, flags);
    case Located::Where::elsewhere: {
      // Out of the tree again through a link or "..": the same file, opened here. Without
      // O_NONBLOCK a pipe that nobody reads would stop all programs.
      uint64_t ours = (flags & ~uint64_t{O_PATH}) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
      Fd file(::open(located.place.path.c_str(), static_cast<int>(ours), mode));
      if (!file) return call.answer.refuse(errno);
      if ((flags & O_NONBLOCK) == 0)
        fcntl(file.get(), F_SETFL, static_cast<int>(flags & (O_APPEND | O_DIRECT | O_NOATIME)));
      call.answer.descriptor(file.get(), (flags & O_CLOEXEC) != 0);
      return;
    }
    case Located::Where::host:
    case Located::Where::descriptor:
      return call.answer.proceed();
  }
}

void Dispatcher::open_node(Call& call, const Node& node, uint64_t flags) {
  bool create = (flags & O_CREAT) != 0, directory = (flags & O_DIRECTORY) != 0;
  if (create && (flags & O_EXCL) != 0) return call.answer.refuse(EEXIST);
  int error = 0;
  switch (node.kind) {
    case Node::Kind::directory:
      if (create || writes(flags)) error = EISDIR;
      break;
    case Node::Kind::file:
      if (directory)
        error = ENOTDIR;
      else if (writes(flags) && (flags & O_PATH) == 0)
        error = EACCES;
      break;
    case Node::Kind::link:  // not followed
      error = directory ? ENOTDIR : ELOOP;
      break;
    case Node::Kind::device:
      if (directory) error = ENOTDIR;
      break;
  }
  if (error != 0) return call.answer.refuse(error);
  if (node.kind == Node::Kind::device && (flags & O_PATH) == 0)
    return open_device(call, node, flags);
  if (node.kind == Node::Kind::file) refresh_if_old();
  // The kernel passes no O_PATH descriptors on; one for reading does what they do, and more.
  Fd file(::open(mirror_.real_path(node).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return call.answer.refuse(errno);
  if (node.kind == Node::Kind::device) devices_seen_ = true;
  call.answer.descriptor(file.get(), (flags & O_CLOEXEC) != 0);
}

void Dispatcher::open_device(Call& call, const Node& node, uint64_t flags) {
  auto owner = call.caller.owner();
  if (!owner) return call.answer.refuse(ENOMEM);
  int error = EIO;
  auto file = kernel_.open(node.nic, call.caller, &error);
  if (!file) return call.answer.refuse(error != 0 ? error : EIO);
  auto id = file->id();
  Fd descriptor;
  error = files_.add(std::move(file), node.nic, static_cast<int>(flags), &descriptor);
  if (error != 0) return call.answer.refuse(error);
  devices_seen_ = true;
  engine_.wake();
  int number = call.answer.descriptor(descriptor.get(), (flags & O_CLOEXEC) != 0);
  if (number >= 0) owner->remember(number, id);
}

// --- stat ---

void Dispatcher::on_stat(Call& call) {
  stat_at(call, {.text = call.request.args[0]}, call.request.args[1]);
}

void Dispatcher::on_lstat(Call& call) {
  stat_at(call, {.text = call.request.args[0], .follow_last = false}, call.request.args[1]);
}

void Dispatcher::on_fstat(Call& call) {
  stat_descriptor(call, call.request.arg<int>(0), call.request.args[1]);
}

void Dispatcher::on_newfstatat(Call& call) {
  int flags = call.request.arg<int>(3);
  if ((flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)) != 0)
    return call.answer.proceed();  // the kernel finds the right error
  bool empty_ok = (flags & AT_EMPTY_PATH) != 0;
  if (empty_ok && call.request.args[1] == 0)  // Linux 6.11 takes a null path, too
    return stat_descriptor(call, call.request.arg<int>(0), call.request.args[2]);
  stat_at(call,
          {.folder = call.request.arg<int>(0),
           .text = call.request.args[1],
           .follow_last = (flags & AT_SYMLINK_NOFOLLOW) == 0,
           .empty_means_folder = empty_ok},
          call.request.args[2]);
}

void Dispatcher::stat_at(Call& call, const PathArgument& argument, uint64_t buffer) {
  auto located = locate(call, argument);
  struct stat found {};
  switch (located.where) {
    case Located::Where::host:
      return call.answer.proceed();
    case Located::Where::refused:
      return call.answer.refuse(located.error);
    case Located::Where::descriptor:
      return stat_descriptor(call, argument.folder, buffer);
    case Located::Where::node:
      if (int error = mirror_.stat(*located.place.node, &found)) return call.answer.refuse(error);
      break;
    case Located::Where::elsewhere:
      if (fstatat(AT_FDCWD, located.place.path.c_str(), &found,
                  argument.follow_last ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
        return call.answer.refuse(errno);
      break;
  }
  copy_out(call.caller, call.answer, buffer, found);
}

void Dispatcher::stat_descriptor(Call& call, int fd, uint64_t buffer) {
  auto tree = mirror_.tree();
  struct stat found {};
  const Node* node = device_behind(call, fd, *tree);
  if (node == nullptr) return call.answer.proceed();
  if (int error = mirror_.stat(*node, &found)) return call.answer.refuse(error);
  copy_out(call.caller, call.answer, buffer, found);
}

void Dispatcher::on_statx(Call& call) {
  int folder = call.request.arg<int>(0), flags = call.request.arg<int>(2);
  auto mask = call.request.arg<unsigned>(3);
  PathArgument argument{.folder = folder,
                        .text = call.request.args[1],
                        .follow_last = (flags & AT_SYMLINK_NOFOLLOW) == 0,
                        .empty_means_folder = (flags & AT_EMPTY_PATH) != 0};
  Located located;
  if (argument.empty_means_folder && argument.text == 0)
    located.where = Located::Where::descriptor;
  else
    located = locate(call, argument);
  if (located.where == Located::Where::refused) return call.answer.refuse(located.error);
  if (located.where == Located::Where::host) return call.answer.proceed();

  std::shared_ptr<const Tree> tree = located.tree ? located.tree : mirror_.tree();
  const Node* node = located.place.node;
  if (located.where == Located::Where::descriptor) {
    node = device_behind(call, folder, *tree);
    if (node == nullptr) return call.answer.proceed();
  }
  auto path = node != nullptr ? mirror_.real_path(*node) : located.place.path;
  int how = (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) |
            (node != nullptr || !argument.follow_last ? AT_SYMLINK_NOFOLLOW : 0);
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), how, mask, &found) != 0) return call.answer.refuse(errno);
  if (node != nullptr && node->kind == Node::Kind::device) {
    struct stat device {};
    if (int error = mirror_.stat(*node, &device)) return call.answer.refuse(error);
    describe(device, &found);
  }
  copy_out(call.caller, call.answer, call.request.args[4], found);
}

// --- access ---

void Dispatcher::on_access(Call& call) {
  access_at(call, {.text = call.request.args[0]}, call.request.arg<int>(1));
}

void Dispatcher::on_faccessat(Call& call) {
  access_at(call, {.folder = call.request.arg<int>(0), .text = call.request.args[1]},
            call.request.arg<int>(2));
}

void Dispatcher::on_faccessat2(Call& call) {
  if ((call.request.arg<int>(3) & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_EACCESS)) != 0)
    return call.answer.proceed();  // the kernel finds the right error
  access_at(call,
            {.folder = call.request.arg<int>(0),
             .text = call.request.args[1],
             .follow_last = (call.request.arg<int>(3) & AT_SYMLINK_NOFOLLOW) == 0},
            call.request.arg<int>(2));
}

void Dispatcher::access_at(Call& call, const PathArgument& argument, int mode) {
  auto located = locate(call, argument);
  switch (located.where) {
    case Located::Where::host:
    case Located::Where::descriptor:
      return call.answer.proceed();
    case Located::Where::refused:
      return call.answer.refuse(located.error);
    case Located::Where::elsewhere:
      if (faccessat(AT_FDCWD, located.place.path.c_str(), mode, 0) != 0)
        return call.answer.refuse(errno);
      return call.answer.value(0);
    case Located::Where::node:
      break;
  }
  if ((mode & ~(R_OK | W_OK | X_OK)) != 0) return call.answer.refuse(EINVAL);
  int denied = 0;
  switch (located.place.node->kind) {
    case Node::Kind::directory:
      denied = W_OK;
      break;
    case Node::Kind::file:
      denied = W_OK | X_OK;
      break;
    case Node::Kind::device:
      denied = X_OK;
      break;
    case Node::Kind::link:
      break;
  }
  if ((mode & denied) != 0) return call.answer.refuse(EACCES);
  call.answer.value(0);
}

// --- readlink ---

void Dispatcher::on_readlink(Call& call) {
  readlink_at(call, {.text = call.request.args[0], .follow_last = false}, call.request.args[1],
              call.request.arg<int>(2));
}

void Dispatcher::on_readlinkat(Call& call) {
  readlink_at(
      call,
      {.folder = call.request.arg<int>(0), .text = call.request.args[1], .follow_last = false},
      call.request.args[2], call.request.arg<int>(3));
}

void Dispatcher::readlink_at(Call& call, const PathArgument& argument, uint64_t buffer,
                             int64_t size) {
  auto located = locate(call, argument);
  std::string target;
  switch (located.where) {
    case Located::Where::host:
    case Located::Where::descriptor:
      return call.answer.proceed();
    case Located::Where::refused:
      return call.answer.refuse(located.error);
    case Located::Where::node:
      if (located.place.node->kind != Node::Kind::link) return call.answer.refuse(EINVAL);
      target = located.place.node->text;
      break;
    case Located::Where::elsewhere: {
      char text[PATH_MAX];
      ssize_t length = ::readlink(located.place.path.c_str(), text, sizeof(text));
      if (length < 0) return call.answer.refuse(errno);
      target.assign(text, static_cast<size_t>(length));
      break;
    }
  }
  if (size <= 0) return call.answer.refuse(EINVAL);
  auto length = std::min(target.size(), static_cast<size_t>(size));
  if (!call.caller.write(buffer, std::as_bytes(std::span(target.data(), length))))
    return call.answer.refuse(EFAULT);
  call.answer.value(static_cast<int64_t>(length));
}

// --- extended attributes: none, so that listing programs have nothing to complain about ---

void Dispatcher::on_get_attribute(Call& call) {
  attribute_at(call, {.text = call.request.args[0]}, false);
}

void Dispatcher::on_lget_attribute(Call& call) {
  attribute_at(call, {.text = call.request.args[0], .follow_last = false}, false);
}

void Dispatcher::on_list_attributes(Call& call) {
  attribute_at(call, {.text = call.request.args[0]}, true);
}

void Dispatcher::on_llist_attributes(Call& call) {
  attribute_at(call, {.text = call.request.args[0], .follow_last = false}, true);
}

void Dispatcher::attribute_at(Call& call, const PathArgument& argument, bool list) {
  auto located = locate(call, argument);
  switch (located.where) {
    case Located::Where::host:
    case Located::Where::descriptor:
      return call.answer.proceed();
    case Located::Where::refused:
      return call.answer.refuse(located.error);
    case Located::Where::node:
    case Located::Where::elsewhere:
      if (list) return call.answer.value(0);
      return call.answer.refuse(ENODATA);
  }
}

}  // namespace sim::host
