"""The toolbox for I/O: store, bus, servers, channels, telemetry. Services import it, titles never do."""
