all build-modules: $(phplibdir)/delayqueue.so

# Not in PHP_MODULES: make test reads those as libtool's .la files.
DELAYQUEUE_TARGET = $(builddir)/target/phpize
$(phplibdir)/delayqueue.so: delayqueue-by-cargo
	PHP=$(PHP_EXECUTABLE) PHP_CONFIG=$(DELAYQUEUE_PHP_CONFIG) CARGO_TARGET_DIR=$(DELAYQUEUE_TARGET) \
	  DELAYQUEUE_COMMIT=$${DELAYQUEUE_COMMIT:-`git -C $(srcdir) rev-parse --short HEAD 2>/dev/null`} \
	  $(CARGO) build --locked --manifest-path $(srcdir)/Cargo.toml --profile $(DELAYQUEUE_PROFILE)
	@mkdir -p $(phplibdir)
	cp $(DELAYQUEUE_TARGET)/`test $(DELAYQUEUE_PROFILE) = dev && echo debug || echo release`/libdelayqueue.so $(phplibdir)/delayqueue.so

.PHONY: delayqueue-by-cargo

# The tests need a Redis of their own, which run-phpt.sh starts. make says that this replaces its recipe: it does.
test: all
	PHP=$(PHP_EXECUTABLE) RUN_TESTS=$(top_srcdir)/run-tests.php $(srcdir)/tests/run-phpt.sh $(phplibdir)/delayqueue.so $(TESTS)
