# One function per kind of target; the warnings and the floating-point contract are one interface target.

include(WeftUnity)

add_library(weft_options INTERFACE)
target_compile_features(weft_options INTERFACE cxx_std_20)
target_compile_options(weft_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor
  -ffp-contract=off  # the same bits from every compiler: no fused multiply-add behind our back
  $<$<BOOL:${CMAKE_POSITION_INDEPENDENT_CODE}>:-fno-semantic-interposition>)  # nobody replaces our functions
if(NOT CMAKE_UNITY_BUILD)  # there, local names meet those of other files
  target_compile_options(weft_options INTERFACE -Wshadow)
endif()
option(WEFT_WERROR "Treat warnings as errors" OFF)
if(WEFT_WERROR)
  target_compile_options(weft_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns falsely about its own string inlining (GCC bug 105651), and at -O3 about the optional iterators of
  # Boost.Graph's edge lists.
  target_compile_options(weft_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
set(WEFT_SANITIZE "" CACHE STRING "Value of -fsanitize= for every target")
if(WEFT_SANITIZE)
  target_compile_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

# weft_library(<layer> [LINK ...] [PRIVATE_LINK ...]): the static library weft_<layer> of every .cpp below <layer>/.
function(weft_library layer)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE_LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/tools/(main|library/.*|python/.*)\\.cpp$")
  add_library(weft_${layer} STATIC ${sources})
  target_include_directories(weft_${layer} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(weft_${layer} PUBLIC ${ARG_LINK} PRIVATE weft_options ${ARG_PRIVATE_LINK})
  cmake_language(EVAL CODE "cmake_language(DEFER CALL weft_batches weft_${layer})")  # with what is added to it later
endfunction()

# Files of one's own are found by the same names as the shipped ones: <folder>/<kind>/*.cpp (collective, blocks, schedule,
# parallelism, framework, commands) and <folder>/<kind>/*.json (machines, devices, catalog, tuners, fabrics).
set(WEFT_EXTENSIONS "" CACHE PATH "Folder with files of your own, by kind")

# weft_registry(<layer> <folder> <Type> <header>): each <layer>/<folder>/<name>.cpp that contains a line
# `extern const <Type> <name>` (in namespace weft::<folder>) becomes an entry of weft::<folder>::all().
# The table is written from the sorted file list, so adding a file is all it takes to register it.
function(weft_registry layer folder type header)
  set_property(GLOBAL APPEND PROPERTY weft_registries "${layer}|${folder} ${type} ${header}")
  weft_write_registry(weft_${layer} ${folder} ${type} ${header} "${PROJECT_SOURCE_DIR}/${layer}" ${WEFT_EXTENSIONS})
endfunction()

# Writes the table of <root>/<folder>/*.cpp for all roots; files of roots behind the first are compiled into the target.
function(weft_write_registry target folder type header)
  set(files "")
  foreach(root IN LISTS ARGN)
    file(GLOB more CONFIGURE_DEPENDS "${root}/${folder}/*.cpp")
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

# weft_embed(<layer> <name> [FROM <folder>] [ENDING <ending>]): every file of the folder (<layer>/<name> if not given)
# with the ending (json if not given) becomes an entry of weft::embedded::<name>(), sorted by name, so that the program
# needs no data path at run time.
function(weft_embed layer name)
  cmake_parse_arguments(ARG "" "FROM;ENDING" "" ${ARGN})
  if(NOT ARG_ENDING)
    set(ARG_ENDING json)
  endif()
  if(ARG_FROM)
    weft_write_embedded(weft_${layer} ${name} ${ARG_ENDING} "${PROJECT_SOURCE_DIR}/${ARG_FROM}")
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY weft_embeddings "${layer}|${name} ${ARG_ENDING}")
  set(own "")
  if(WEFT_EXTENSIONS)
    set(own "${WEFT_EXTENSIONS}/${name}")
  endif()
  weft_write_embedded(weft_${layer} ${name} ${ARG_ENDING} "${PROJECT_SOURCE_DIR}/${layer}/${name}" ${own})
endfunction()

function(weft_write_embedded target name ending)
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
    file(RELATIVE_PATH shown "${PROJECT_SOURCE_DIR}" "${file}")
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
        weft_write_registry(${target} ${arguments} "${PROJECT_SOURCE_DIR}/${layer}" "${folder}")
      else()
        list(GET arguments 0 name)
        weft_write_embedded(${target} ${arguments} "${PROJECT_SOURCE_DIR}/${layer}/${name}" "${folder}/${name}")
      endif()
    endforeach()
  endforeach()
endfunction()

# weft_mpi(<layer> <source>): compiles the one file that speaks MPI with WEFT_HAS_MPI and links Boost.MPI and MPI, where
# both are found and WEFT_MPI is on. The other files of the layer are compiled alike with and without.
function(weft_mpi layer source)
  if(NOT WEFT_MPI)
    return()
  endif()
  find_package(MPI COMPONENTS CXX QUIET)
  find_package(Boost 1.74 QUIET OPTIONAL_COMPONENTS mpi serialization)
  if(NOT MPI_CXX_FOUND OR NOT Boost_MPI_FOUND)
    message(STATUS "sweeps over MPI ranks: left out, MPI and Boost.MPI are not both there")
    return()
  endif()
  message(STATUS "sweeps over MPI ranks: with ${MPI_CXX_LIBRARY_VERSION_STRING}")
  set(options ${MPI_CXX_COMPILE_OPTIONS})
  foreach(folder ${MPI_CXX_INCLUDE_DIRS})
    list(APPEND options -isystem ${folder})
  endforeach()
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}"
                              COMPILE_DEFINITIONS "WEFT_HAS_MPI;OMPI_SKIP_MPICXX;MPICH_SKIP_MPICXX")
  target_link_libraries(weft_${layer} PRIVATE $<LINK_ONLY:Boost::mpi> $<LINK_ONLY:MPI::MPI_CXX>)
endfunction()

# weft_install(<program>): the program, and the man pages and completion scripts that it writes.
function(weft_install program)
  include(GNUInstallDirs)
  install(TARGETS ${program} COMPONENT program)
  install(CODE "
    execute_process(COMMAND \"$<TARGET_FILE:${program}>\" manual
                            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}\"
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
endfunction()

# weft_public_library(<folder>): weft for other programs: the folder's sources on all layers as one shared library that
# shows nothing but them, and what find_package(weft) needs to find it.
function(weft_public_library folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  add_library(weft_public OBJECT ${sources})
  target_link_libraries(weft_public PUBLIC weft_tools PRIVATE weft_options nlohmann_json::nlohmann_json)
  add_library(weft_shared SHARED)
  target_link_libraries(weft_shared PRIVATE weft_public)
  target_link_options(weft_shared PRIVATE -Wl,--exclude-libs,ALL)
  target_include_directories(weft_shared INTERFACE $<INSTALL_INTERFACE:include>)
  target_compile_features(weft_shared INTERFACE cxx_std_20)
  set_target_properties(weft_shared PROPERTIES OUTPUT_NAME weft EXPORT_NAME weft VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
  install(TARGETS weft_shared EXPORT weft)
  install(FILES "${folder}/weft.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weft")
  install(EXPORT weft FILE weftConfig.cmake NAMESPACE weft:: DESTINATION "${package}")
  write_basic_package_version_file("${CMAKE_BINARY_DIR}/weftConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${CMAKE_BINARY_DIR}/weftConfigVersion.cmake" DESTINATION "${package}")
endfunction()
