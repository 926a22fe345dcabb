"""The only toolbox for I/O: the store, the bus, servers, channels, telemetry. Services import it; titles do not."""
