"""The one door: HTTP and WebSocket outside, gRPC inside. Moves and views pass as bytes."""
