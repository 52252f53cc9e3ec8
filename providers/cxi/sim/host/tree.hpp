// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The part of the file system that programs see differently: device nodes below /dev and
// descriptions below /sys. Only names are held here; mirror.hpp gives them files that can be
// opened.
//
// Folders that the host has too (/dev, /sys/class ...) are shared: what the tree does not know in
// them is the host's. All other folders are the tree's alone, and what is not there does not exist.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sim::host {

struct Node {
  enum class Kind { directory, file, link, device };

  Kind kind = Kind::directory;
  bool shared = false;  // a directory of the host, to which the tree adds
  std::string path;     // as programs name it; "/" for the root
  std::string text;     // content of a file, target of a link
  unsigned nic = 0;     // of a device
  unsigned major = 0, minor = 0;
  Node* parent = nullptr;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
};

// Where a path leads.
struct Place {
  const Node* node = nullptr;  // null with error 0: to the host, at `path`
  std::string path;            // absolute, without links of the tree, "." or ".."
  int error = 0;               // ENOENT, ENOTDIR, ELOOP: inside the tree, and refused
  bool must_be_directory = false;
  bool followed_link = false;
  bool climbed = false;            // by "..", out of a folder that the host may not have
  bool only_last_missing = false;  // ENOENT, but the folder that it would be in is there
};

class Tree {
 public:
  // `on_host` says whether the host has a folder of this path.
  explicit Tree(std::function<bool(const std::string&)> on_host);

  // Absolute paths; folders in between are made. A name that exists already is replaced.
  void add_directory(std::string_view path);
  void add_file(std::string_view path, std::string content);
  void add_link(std::string_view path, std::string target);
  void add_device(std::string_view path, unsigned nic, unsigned major, unsigned minor);

  // Follows an absolute path (the links of the tree, not those of the host).
  Place resolve(std::string_view path, bool follow_last) const;

  const Node& root() const { return *root_; }
  const Node* find(std::string_view path) const;  // by its own name, no link is followed

 private:
  Node& make(std::string_view path, Node::Kind kind);

  std::function<bool(const std::string&)> on_host_;
  std::unique_ptr<Node> root_;
};

// Whether a path can lead into a tree that holds only /dev and /sys, judged by its text alone;
// false for nearly everything that programs open.
bool worth_resolving(std::string_view absolute_path);

// "/sys/class" and "infiniband/x" make "/sys/class/infiniband/x"; an absolute path stays.
std::string join(std::string_view base, std::string_view path);

}  // namespace sim::host
