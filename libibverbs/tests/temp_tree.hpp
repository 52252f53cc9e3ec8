// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A folder of files for one test, gone with it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

class TempTree {
 public:
  TempTree() {
    std::string name = (std::filesystem::temp_directory_path() / "ibverbs-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    root_ = name;
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() { std::filesystem::remove_all(root_); }

  void put(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << content;
  }
  void folder(const std::string& name) const { std::filesystem::create_directories(root_ / name); }
  void remove(const std::string& name) const { std::filesystem::remove_all(root_ / name); }
  std::string path(const std::string& name = "") const {
    return name.empty() ? root_.string() : (root_ / name).string();
  }

 private:
  std::filesystem::path root_;
};
