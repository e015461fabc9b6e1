# What Debian asks of a package beside its files, before CPack packs the tree of a component: copyright, changes, and man
# pages compressed.
file(GLOB folders "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach(folder IN LISTS folders)
  get_filename_component(component "${folder}" NAME)
  string(TOUPPER "${component}" component)
  set(package "${CPACK_DEBIAN_${component}_PACKAGE_NAME}")
  if(NOT package)
    continue()
  endif()
  set(documents "${folder}/usr/share/doc/${package}")
  configure_file("${CPACK_WEFT_SOURCE}/tools/packages/copyright" "${documents}/copyright" COPYONLY)
  configure_file("${CPACK_WEFT_SOURCE}/CHANGELOG.md" "${documents}/changelog" COPYONLY)
  execute_process(COMMAND date --utc --rfc-email --date "${CPACK_WEFT_RELEASED}" OUTPUT_VARIABLE day
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${documents}/changelog.Debian"
       "weft (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
       "  * Version ${CPACK_PACKAGE_VERSION}; see changelog.gz.\n\n"
       " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${day}\n")
  if(EXISTS "${folder}/usr/share/zsh/site-functions")  # Debian's zsh looks for others' completion elsewhere
    file(RENAME "${folder}/usr/share/zsh/site-functions" "${folder}/usr/share/zsh/vendor-completions")
  endif()
  file(GLOB_RECURSE texts "${folder}/usr/share/man/*" "${documents}/changelog*")
  execute_process(COMMAND gzip -9n ${texts} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE plain "${folder}/usr/share/*")
  file(CHMOD ${plain} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
