# cmake -D MODULE=_weft.so -D FROM=FOLDER -D INTO=FOLDER -P bundle.cmake
# Copies what the module loads, from FROM or the system, into INTO, where its rpath leads; but not what every Linux with
# a Python has. The copies find one another there, too: an rpath of their own would hide the module's.
file(GET_RUNTIME_DEPENDENCIES MODULES "${MODULE}" DIRECTORIES "${FROM}" RESOLVED_DEPENDENCIES_VAR libraries
     PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|util|pthread|gcc_s|stdc[+][+])[.]so")
file(MAKE_DIRECTORY "${INTO}")
foreach(library IN LISTS libraries)
  cmake_path(GET library FILENAME name)
  file(REAL_PATH "${library}" file)
  file(COPY_FILE "${file}" "${INTO}/${name}")
  file(RPATH_REMOVE FILE "${INTO}/${name}")
endforeach()
