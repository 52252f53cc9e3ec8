// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Real files for the tree: a copy of it in a private folder, so that a program that opened a part
// of it reads, lists and polls natively.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/fd.hpp"
#include "host/tree.hpp"
#include "uverbs/kernel.hpp"

namespace sim::host {

class Mirror {
 public:
  // `folder` exists, is empty and stays the mirror's.
  explicit Mirror(std::string folder);

  // Takes over what the kernel describes. Files that changed are written in place, so that a
  // program that has one open reads the new text; names that went are removed.
  void update(const std::vector<uverbs::NicDescription>& nics,
              std::vector<std::pair<std::string, std::string>> sysfs);

  std::shared_ptr<const Tree> tree() const;

  // What a descriptor of the mirror is called in the tree, given what the kernel calls it.
  std::optional<std::string> name_of(std::string_view real_path) const;
  std::string real_path(const Node& node) const { return folder_ + node.path; }

  // What stat gives. 0 or errno.
  int stat(const Node& node, struct stat* out) const;
  // Makes `out`, the stat of a device's file, that of the device.
  static void make_device(unsigned major, unsigned minor, struct stat* out);
  // An O_PATH descriptor of a device node is one of its place-holder here.
  const Node* device_of(const Tree& tree, const uverbs::FileId& id) const;

 private:
  void write_node(const Node& node, const Node* before);
  void remove_node(const Node& node);

  const std::string folder_;
  dev_t file_system_ = 0;
  mutable std::shared_mutex lock_;
  std::shared_ptr<const Tree> tree_;
  std::vector<std::pair<std::string, std::string>> sysfs_;
  size_t nics_ = 0;
};

}  // namespace sim::host
