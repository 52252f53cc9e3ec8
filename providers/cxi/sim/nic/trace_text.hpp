// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Words for numbers in trace lines, and the one function that writes a line.
#pragma once

#include <fmt/format.h>

#include "nic/engine.hpp"

namespace sim::nic {

const char* name_of_return_code(unsigned code);
const char* name_of_event(unsigned type);
const char* name_of_opcode(unsigned opcode);  // enum c_dma_op
const char* name_of_list(unsigned list);
const char* name_of_state(PteState state);

template <class... A>
void Nic::say(const char* format, const A&... arguments) {
  if (!trace_on_) return;
  thread_local fmt::memory_buffer text;
  text.clear();
  fmt::format_to(std::back_inserter(text), "nic {}: ", config_.nid);
  fmt::vformat_to(std::back_inserter(text), format, fmt::make_format_args(arguments...));
  trace_.line({text.data(), text.size()});
}

}  // namespace sim::nic
