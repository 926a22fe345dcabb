FROM scratch
COPY nats-server /nats-server
EXPOSE 4222 8222 6222
ENTRYPOINT ["/nats-server"]
