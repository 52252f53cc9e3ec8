# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Manual pages are written in Markdown and made with pandoc. Without pandoc there are none.

find_program(CXV_PANDOC pandoc)
mark_as_advanced(CXV_PANDOC)
if(NOT CXV_PANDOC)
  message(STATUS "pandoc not found: no manual pages")
endif()

# cxv_man_pages(folder): makes NAME.SECTION of every NAME.SECTION.md in the folder, in the folder man of
# the build, which man -M reads, and installs it. A page that describes more than its name says so in its
# YAML header,
#
#   aliases:
#     - ibv_free_device_list
#
# and each of these names becomes a link to it. A NAME.SECTION.md.in is a page with an index of the
# others, see gen_man_index.py. A warning of pandoc is an error.
function(cxv_man_pages folder)
  if(NOT CXV_PANDOC)
    return()
  endif()
  get_filename_component(folder "${folder}" ABSOLUTE)
  file(RELATIVE_PATH target "${CMAKE_SOURCE_DIR}" "${folder}")
  string(MAKE_C_IDENTIFIER "${target}" target)

  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.md")
  file(GLOB templates CONFIGURE_DEPENDS "${folder}/*.md.in")
  set(made "")
  foreach(source IN LISTS sources)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")  # its aliases
    _cxv_man_page("${source}" page)
    list(APPEND made "${page}")
    _cxv_man_aliases("${source}" "${page}")
  endforeach()
  foreach(template IN LISTS templates)
    get_filename_component(name "${template}" NAME)
    string(REGEX REPLACE "\\.in$" "" name "${name}")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}")
    set(generator "${CMAKE_SOURCE_DIR}/buildlib/gen_man_index.py")
    add_custom_command(
      OUTPUT "${source}"
      COMMAND Python3::Interpreter -B "${generator}" "${template}" ${sources} --output "${source}"
      DEPENDS "${template}" ${sources} "${generator}" "${CMAKE_SOURCE_DIR}/buildlib/man_page.py"
      COMMENT "Index in manual page ${name}" VERBATIM)
    _cxv_man_page("${source}" page)
    list(APPEND made "${page}")
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${made})
  add_dependencies(programs ${target})
endfunction()

# The rule for the page that a source makes; the page's path is the result.
function(_cxv_man_page source result)
  get_filename_component(page "${source}" NAME)
  string(REGEX REPLACE "\\.md$" "" page "${page}")
  string(REGEX REPLACE "^.*\\." "" section "${page}")
  set(out "${CMAKE_BINARY_DIR}/man/man${section}")
  file(MAKE_DIRECTORY "${out}")
  add_custom_command(
    OUTPUT "${out}/${page}"
    COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/buildlib/make_man.py" "${CXV_PANDOC}" "${source}"
            --output "${out}/${page}"
    DEPENDS "${source}" "${CMAKE_SOURCE_DIR}/buildlib/make_man.py"
    COMMENT "Manual page ${page}" VERBATIM)
  install(FILES "${out}/${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
  set(${result} "${out}/${page}" PARENT_SCOPE)
endfunction()

# A link beside the page for each name under "aliases:" in the YAML header of its source.
function(_cxv_man_aliases source page)
  file(READ "${source}" text)
  if(NOT text MATCHES "^---\n(([^-]|-[^-]|--[^-])*\n)?aliases:\n((  - [A-Za-z0-9_]+\n)+)")
    return()
  endif()
  string(REGEX MATCHALL "[A-Za-z0-9_]+" aliases "${CMAKE_MATCH_3}")
  get_filename_component(out "${page}" DIRECTORY)
  get_filename_component(name "${page}" NAME)
  string(REGEX REPLACE "^.*\\." "" section "${name}")
  foreach(alias IN LISTS aliases)
    file(CREATE_LINK "${name}" "${out}/${alias}.${section}" SYMBOLIC)
    install(FILES "${out}/${alias}.${section}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
  endforeach()
endfunction()

# cxv_man_pages_test(name): the test of pages in the current folder, name.py. It can import man_tests.
function(cxv_man_pages_test name)
  set(built "")
  if(CXV_PANDOC)
    set(built "${CMAKE_BINARY_DIR}/man")
  endif()
  add_test(NAME ${name} COMMAND Python3::Interpreter -m unittest -v ${name}
           WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT
    "MAN_PAGES_BUILT=${built};MAN_PAGES_CC=${CMAKE_C_COMPILER};MAN_PAGES_CXX=${CMAKE_CXX_COMPILER};MAN_PAGES_INCLUDE=${CMAKE_BINARY_DIR}/include;PYTHONPATH=${CMAKE_SOURCE_DIR}/buildlib;PYTHONDONTWRITEBYTECODE=1")
endfunction()
