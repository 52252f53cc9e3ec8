// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <iterator>

#include "abi_tables.inc"

abi_rows abi_layouts_in_cpp(void) {
  return {layouts, std::size(layouts)};
}
abi_rows abi_values_in_cpp(void) {
  return {values, std::size(values)};
}
