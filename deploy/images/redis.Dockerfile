FROM debian:bookworm-slim
# The official image's user, folder and command.
# hadolint ignore=DL3008
RUN groupadd --system --gid 999 redis \
    && useradd --system --uid 999 --gid redis --home-dir /data --no-create-home redis \
    && install -d -o redis -g redis /data \
    && apt-get -o Acquire::Retries=4 update \
    && apt-get -o Acquire::Retries=4 install -y --no-install-recommends redis-server redis-tools \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/* /etc/redis/redis.conf
USER 999:999
VOLUME /data
WORKDIR /data
EXPOSE 6379
# Like the official one it takes a program or options of redis-server, and is not protected: the container's
# network is its fence.
ENTRYPOINT ["sh", "-c", "case ${1:-} in redis-server) shift ;; [a-z]*) exec \"$@\" ;; esac; exec redis-server --protected-mode no \"$@\"", "redis"]
CMD ["redis-server"]
