"""Bytes as they are, for what no HTTP client would send."""

import socket

from deploy.local.system import System

PATIENCE_S = 10.0


def raw(system: System, *sent: bytes) -> bytes:
    """What comes back on a connection before the server closes it."""
    received = b""
    with socket.create_connection(("127.0.0.1", system.ports[0]), timeout=PATIENCE_S) as peer:
        try:
            for part in sent:
                peer.sendall(part)
            while part := peer.recv(65536):
                received += part
        except ConnectionResetError:
            pass
        return received
