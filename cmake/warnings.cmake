# holotone_warnings(target): the warnings every target of this tree is clean of, and the sanitizers asked for.
function(holotone_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  if(HOLOTONE_WERROR)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
  endif()
  # Programs and tests with sanitizers take twice as long to compile with full optimisation and debug information; the library keeps both, for its loops.
  get_target_property(type ${target} TYPE)
  if(HOLOTONE_SANITIZE AND type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-O1;-g1>")
  endif()
endfunction()

if(HOLOTONE_SANITIZE STREQUAL "address")
  # g++ 12 sees uninitialised values in the standard library when it instruments it: a false alarm.
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined;-fno-sanitize-recover=all>"
                      "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>"
                      "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>")
  add_link_options(-fsanitize=address,undefined)
elseif(HOLOTONE_SANITIZE STREQUAL "thread")
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=thread>)
  add_link_options(-fsanitize=thread)
elseif(HOLOTONE_SANITIZE)
  message(FATAL_ERROR "HOLOTONE_SANITIZE: expected address, thread or empty, got '${HOLOTONE_SANITIZE}'")
endif()
