dnl phpize && ./configure && make && make test && make install, and with it PIE: cargo does the work.
PHP_ARG_ENABLE([delayqueue], [whether to enable delayqueue],
  [AS_HELP_STRING([--enable-delayqueue], [Enable delayqueue])], [yes], [no])
PHP_ARG_ENABLE([delayqueue-debug], [whether to build delayqueue without optimisation],
  [AS_HELP_STRING([--enable-delayqueue-debug], [Build delayqueue without optimisation])], [no], [no])

if test "$PHP_DELAYQUEUE" != "no"; then
  delayqueue_missing=

  AC_PATH_PROG([CARGO], [cargo], [no], [$PATH:$HOME/.cargo/bin])
  if test "$CARGO" = "no"; then
    delayqueue_missing="$delayqueue_missing
  - Rust 1.88 or newer, with cargo: https://rustup.rs"
  else
    AC_MSG_CHECKING([whether Rust is 1.88 or newer])
    dnl cargo and rustc of one toolchain have one version; rustup puts them side by side.
    delayqueue_rust=`"$CARGO" --version | sed 's/^cargo \([[0-9]]*\)\.\([[0-9]]*\).*/\1 \2/'`
    set -- $delayqueue_rust
    if test "${1:-0}" -gt 1 || { test "${1:-0}" -eq 1 && test "${2:-0}" -ge 88; }; then
      AC_MSG_RESULT([yes])
    else
      AC_MSG_RESULT([no])
      delayqueue_missing="$delayqueue_missing
  - Rust 1.88 or newer; this is `"$CARGO" --version`: rustup update"
    fi
  fi

  dnl phpize needs none, and Debian's phpX.Y-dev brings none along.
  AC_PATH_PROGS([DELAYQUEUE_MAKE], [make gmake], [no])
  if test "$DELAYQUEUE_MAKE" = "no"; then
    delayqueue_missing="$delayqueue_missing
  - make"
  fi

  AC_MSG_CHECKING([for libclang])
  delayqueue_libclang=
  for delayqueue_file in ${LIBCLANG_PATH:+"$LIBCLANG_PATH" "$LIBCLANG_PATH"/libclang*.so*} \
      /usr/lib/llvm*/lib/libclang*.so* /usr/lib/llvm/*/lib*/libclang*.so* /usr/lib/*/libclang*.so* \
      /usr/lib64/libclang*.so* /usr/lib64/llvm*/lib*/libclang*.so* /usr/lib/libclang*.so* /usr/local/lib/libclang*.so*; do
    if test -f "$delayqueue_file"; then
      delayqueue_libclang=$delayqueue_file
      break
    fi
  done
  if test -n "$delayqueue_libclang"; then
    AC_MSG_RESULT([$delayqueue_libclang])
  else
    AC_MSG_RESULT([no])
    delayqueue_missing="$delayqueue_missing
  - libclang, which reads the headers of PHP: libclang-dev on Debian, clang-devel on Fedora, clang-dev on Alpine; elsewhere set LIBCLANG_PATH"
  fi

  if test -n "$delayqueue_missing"; then
    AC_MSG_ERROR([delayqueue cannot be built here. Missing:$delayqueue_missing
A release has it built already: see docs/install.md])
  fi

  DELAYQUEUE_PROFILE=release
  if test "$PHP_DELAYQUEUE_DEBUG" = "yes"; then
    DELAYQUEUE_PROFILE=dev
  fi
  dnl The Rust build wants a path, and not a name to search for.
  DELAYQUEUE_PHP_CONFIG=`command -v "$PHP_CONFIG"`
  PHP_SUBST([CARGO])
  PHP_SUBST([DELAYQUEUE_PROFILE])
  PHP_SUBST([DELAYQUEUE_PHP_CONFIG])
  PHP_ADD_MAKEFILE_FRAGMENT([$abs_srcdir/Makefile.frag], [$abs_srcdir], [$abs_builddir])
fi
