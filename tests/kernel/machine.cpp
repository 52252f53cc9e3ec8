// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "machine.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace guest {

std::optional<std::string> line_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return {};
  return line;
}

long long number_of(const std::filesystem::path& file) {
  auto line = line_of(file);
  if (!line) return -1;
  char* end;
  long long value = std::strtoll(line->c_str(), &end, line->starts_with("0x") ? 16 : 10);
  return end == line->c_str() ? -1 : value;
}

size_t files_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                           std::filesystem::directory_iterator()));
}

bool run(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return output;
  std::array<char, 4096> piece;
  while (size_t length = fread(piece.data(), 1, piece.size(), pipe))
    output.append(piece.data(), length);
  pclose(pipe);
  return output;
}

long resources(const std::string& device, const std::string& kind) {
  // "0: rxe0: pd 1 cq 1 qp 2 cm_id 0 mr 0 ctx 0"
  std::istringstream words(output_of("rdma resource show " + device));
  std::string word;
  while (words >> word)
    if (word == kind) {
      long count = -1;
      words >> count;
      return count;
    }
  return -1;
}

int index_of(const std::string& device) {
  // "0: rxe0: node_type ca ..."
  std::string line = output_of("rdma dev show " + device + " 2>/dev/null");
  char* end;
  long index = std::strtol(line.c_str(), &end, 10);
  return end == line.c_str() ? -1 : static_cast<int>(index);
}

}  // namespace guest
