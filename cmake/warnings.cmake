# holotone_warnings(target): the warnings every target of this tree is clean of, and the sanitizers asked for.
function(holotone_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  if(HOLOTONE_WERROR)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
  endif()
  # With sanitizers full optimisation and debug information take twice as long to compile: only the library has them.
  if(HOLOTONE_SANITIZE AND NOT target STREQUAL "holotone")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-O1;-g0>")
  endif()
endfunction()

if(HOLOTONE_SANITIZE STREQUAL "address")
  # g++ 12 sees uninitialised values in the standard library when it instruments it: a false alarm. Checks of every pointer for
  # null (a fault that the address sanitizer reports anyway) and alignment would double the time to compile.
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined;-fno-sanitize=null,alignment;-fno-sanitize-recover=all>"
                      "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>"
                      "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>")
  add_link_options(-fsanitize=address,undefined)
elseif(HOLOTONE_SANITIZE STREQUAL "thread")
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=thread>)
  add_link_options(-fsanitize=thread)
elseif(HOLOTONE_SANITIZE)
  message(FATAL_ERROR "HOLOTONE_SANITIZE: expected address, thread or empty, got '${HOLOTONE_SANITIZE}'")
endif()
