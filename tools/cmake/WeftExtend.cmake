# Tables of what lies in folders: a file more in one of them, and the program knows what it defines. Part of the installed
# package as well (COMPONENTS extension), so that programs on weft's libraries have folders of their own.

# Writes the table of <root>/<folder>/*.cpp for all roots, sorted by name; files of roots behind the first are compiled into the target.
function(weft_write_registry target folder type header)
  set(files "")
  foreach(root IN LISTS ARGN)
    file(GLOB_RECURSE more CONFIGURE_DEPENDS "${root}/${folder}/*.cpp")
    if(files)
      target_sources(${target} PRIVATE ${more})
    endif()
    list(APPEND files ${more})
  endforeach()
  list(SORT files COMPARE FILE_BASENAME)
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" definitions REGEX "^extern const ${type} [a-z0-9_]+")
    foreach(definition IN LISTS definitions)
      string(REGEX REPLACE "^extern const ${type} ([a-z0-9_]+).*" "\\1" name "${definition}")
      string(APPEND declarations "extern const ${type} ${name};\n")
      list(APPEND entries "&${name}")
    endforeach()
  endforeach()
  list(SORT entries)
  list(JOIN entries ", " entries)
  string(CONCAT text
    "#include \"${header}\"\n\n#include <array>\n\n"
    "namespace weft::${folder} {\n${declarations}\n"
    "std::span<const ${type}* const> all() {\n"
    "    static constexpr std::array table = std::to_array<const ${type}*>({${entries}});\n"
    "    return table;\n}\n}  // namespace weft::${folder}\n")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/generated/${target}_${folder}_registry.cpp")
  file(CONFIGURE OUTPUT "${output}" CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE "${output}")
  # Alone in its object, so that a program with a table of its own leaves this one in the library.
  set_source_files_properties("${output}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(weft_write_embedded target name ending)
  get_property(weft_root GLOBAL PROPERTY weft_root)
  set(files "")
  foreach(folder IN LISTS ARGN)
    file(GLOB more CONFIGURE_DEPENDS "${folder}/*.${ending}")
    list(APPEND files ${more})
  endforeach()
  list(SORT files COMPARE FILE_BASENAME)
  list(LENGTH files count)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    get_filename_component(stem "${file}" NAME_WLE)
    file(RELATIVE_PATH shown "${weft_root}" "${file}")
    file(READ "${file}" text)
    string(APPEND entries "    File{\"${stem}\", \"${shown}\", R\"__weft__(${text})__weft__\"},\n")
  endforeach()
  string(CONCAT text
    "#include \"sim/io/embedded.hpp\"\n\n#include <array>\n\n"
    "namespace weft::embedded {\n"
    "std::span<const File> ${name}() {\n"
    "    static constexpr std::array<File, ${count}> table{\n${entries}    };\n"
    "    return table;\n}\n}  // namespace weft::embedded\n")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/generated/${target}_${name}_embedded.cpp")
  set(previous "")
  if(EXISTS "${output}")
    file(READ "${output}" previous)
  endif()
  if(NOT previous STREQUAL text)
    file(WRITE "${output}" "${text}")
  endif()
  target_sources(${target} PRIVATE "${output}")
  set_source_files_properties("${output}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# weft_extend(<target> <folder> <layer>...): a program on the libraries of these layers that knows the files of the
# folder beside theirs (see WEFT_EXTENSIONS), without building the libraries again: the linker takes its tables first.
function(weft_extend target folder)
  get_property(weft_root GLOBAL PROPERTY weft_root)
  foreach(kind IN ITEMS registries embeddings)
    get_property(entries GLOBAL PROPERTY weft_${kind})
    foreach(entry IN LISTS entries)
      string(REGEX MATCH "^([a-z]+)[|](.*)$" matched "${entry}")
      set(layer "${CMAKE_MATCH_1}")
      separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_2}")
      if(NOT layer IN_LIST ARGN)
        continue()
      endif()
      if(kind STREQUAL "registries")
        weft_write_registry(${target} ${arguments} "${weft_root}/${layer}" "${folder}")
      else()
        list(GET arguments 0 name)
        weft_write_embedded(${target} ${arguments} "${weft_root}/${layer}/${name}" "${folder}/${name}")
      endif()
    endforeach()
  endforeach()
endfunction()

