# delayqueue for the PHP of an image of the php family (php:8.x-cli, -fpm, -zts, FrankenPHP; Debian or Alpine).
#
#   docker build --build-arg PHP_IMAGE=php:8.4-fpm -t delayqueue:8.4-fpm .
#
# The result holds two files. In the Dockerfile of an application on the same image:
#
#   FROM php:8.4-fpm
#   COPY --from=delayqueue:8.4-fpm / /
ARG PHP_IMAGE=php:8.4-cli

# hadolint ignore=DL3006
FROM ${PHP_IMAGE} AS build
# hadolint ignore=DL3002
USER 0
SHELL ["/bin/sh", "-eu", "-c"]
ENV CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup PATH=/usr/local/cargo/bin:$PATH
# Alpine's and Debian's names of the same: a C compiler and libclang. The versions are those of the image's release.
# hadolint ignore=DL3008,DL3018
RUN if command -v apk >/dev/null; then \
      apk add --no-cache build-base clang-dev curl ca-certificates; \
    else \
      apt-get update; \
      apt-get install -y --no-install-recommends gcc libc6-dev libclang-dev curl ca-certificates; \
      rm -rf /var/lib/apt/lists/*; \
    fi; \
    curl --proto '=https' --tlsv1.2 -sSf -o /tmp/rustup.sh https://sh.rustup.rs; \
    sh /tmp/rustup.sh -y --profile minimal --default-toolchain 1.95.0; \
    rm /tmp/rustup.sh
WORKDIR /source
COPY . .
ARG DELAYQUEUE_COMMIT=
# On Alpine a library for PHP must use the C library that PHP has loaded.
RUN if command -v apk >/dev/null; then export RUSTFLAGS='-C target-feature=-crt-static'; fi; \
    PHP=$(command -v php) PHP_CONFIG=$(command -v php-config) CARGO_PROFILE_RELEASE_STRIP=symbols \
      cargo build --release --locked; \
    mkdir -p "/result$(php-config --extension-dir)" "/result$PHP_INI_DIR/conf.d"; \
    cp target/release/libdelayqueue.so "/result$(php-config --extension-dir)/delayqueue.so"; \
    echo 'extension=delayqueue' >"/result$PHP_INI_DIR/conf.d/docker-php-ext-delayqueue.ini"; \
    php -d "extension=/result$(php-config --extension-dir)/delayqueue.so" --ri delayqueue

# A project with the package, and symfony/console for its command line.
FROM composer:2 AS package
WORKDIR /delayqueue
COPY php php
RUN composer init --no-interaction --name=delayqueue/shop --repository='{"type":"path","url":"php"}' \
      --require='delayqueue/delayqueue:@dev' --require='symfony/console:^7.3' && \
    composer install --no-interaction --no-dev --ignore-platform-req='ext-*'

# The image of compose.yaml: the extension, the package with its command line and its examples.
# hadolint ignore=DL3006
FROM ${PHP_IMAGE} AS shop
# Pools of workers need pcntl. A volume at /shop belongs to the user of php-fpm.
RUN docker-php-ext-install pcntl && mkdir /shop && chown www-data:www-data /shop
COPY --from=build /result /
COPY --from=package /delayqueue /delayqueue
RUN ln -s /delayqueue/vendor/bin/delayqueue /usr/local/bin/delayqueue
WORKDIR /delayqueue/php

# The last stage is what docker build makes.
FROM scratch
COPY --from=build /result /
