FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get -o Acquire::Retries=4 update \
    && apt-get -o Acquire::Retries=4 install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/* \
    && ln -s /usr/bin/python3 /usr/local/bin/python3 \
    && ln -s /usr/bin/python3 /usr/local/bin/python
CMD ["python3"]
