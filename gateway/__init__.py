"""The one door: HTTP and WebSocket outside, gRPC and NATS inside. Moves and views pass as bytes."""
