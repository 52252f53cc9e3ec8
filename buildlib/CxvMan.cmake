# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Manual pages are written in Markdown and made with pandoc. Without pandoc there are none.

find_program(CXV_PANDOC pandoc)
mark_as_advanced(CXV_PANDOC)
if(NOT CXV_PANDOC)
  message(STATUS "pandoc not found: no manual pages")
endif()

# cxv_man_pages(folder): makes NAME.SECTION of every NAME.SECTION.md in the folder, in the folder man of
# the build, and installs it. A page that describes more than its name says so in its YAML header,
#
#   aliases:
#     - ibv_free_device_list
#
# and each of these names becomes a page that includes it. A warning of pandoc is an error.
function(cxv_man_pages folder)
  if(NOT CXV_PANDOC)
    return()
  endif()
  get_filename_component(folder "${folder}" ABSOLUTE)
  file(RELATIVE_PATH target "${CMAKE_SOURCE_DIR}" "${folder}")
  string(MAKE_C_IDENTIFIER "${target}" target)
  set(out "${CMAKE_BINARY_DIR}/man")
  file(MAKE_DIRECTORY "${out}")

  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.md")
  set(made "")
  foreach(source IN LISTS sources)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")  # its aliases
    get_filename_component(page "${source}" NAME)
    string(REGEX REPLACE "\\.md$" "" page "${page}")
    string(REGEX REPLACE "^.*\\." "" section "${page}")
    add_custom_command(
      OUTPUT "${out}/${page}"
      COMMAND "${CXV_PANDOC}" --standalone --fail-if-warnings --from markdown-smart --to man
              "${source}" --output "${out}/${page}"
      DEPENDS "${source}" COMMENT "Manual page ${page}" VERBATIM)
    list(APPEND made "${out}/${page}")
    install(FILES "${out}/${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")

    _cxv_man_aliases("${source}" aliases)
    foreach(alias IN LISTS aliases)
      file(GENERATE OUTPUT "${out}/${alias}.${section}" CONTENT ".so man${section}/${page}\n")
      install(FILES "${out}/${alias}.${section}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
    endforeach()
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${made})
  add_dependencies(programs ${target})
endfunction()

# The list under "aliases:" in the YAML header of a page.
function(_cxv_man_aliases source result)
  file(READ "${source}" text)
  set(names "")
  if(text MATCHES "^---\n(([^-]|-[^-]|--[^-])*\n)?aliases:\n((  - [A-Za-z0-9_]+\n)+)")
    string(REGEX MATCHALL "[A-Za-z0-9_]+" names "${CMAKE_MATCH_3}")
  endif()
  set(${result} "${names}" PARENT_SCOPE)
endfunction()
