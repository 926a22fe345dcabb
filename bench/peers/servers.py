"""The servers that stand beside each other, and how each is started, spoken to and loaded."""

from typing import Literal

from msgspec import Struct

# What is left when the server process is killed: of moves that both players have seen.
Durable = Literal["yes", "in part", "no"]

WAYSTATION = "Waystation"


class Peer(Struct, frozen=True, kw_only=True):
    """A server of others. `server` and `client`: its files here. `has_files`: it stores matches in a folder.

    `lives`: how many matches are timed, one after the other, for each that is played at once; a faster
    server goes through more of them, so that enough moves are timed.
    """

    name: str
    durable: Durable
    server: str
    client: str
    lives: int
    has_files: bool = False


PEERS = (
    Peer(
        name="boardgame.io, in memory",
        durable="no",
        server="boardgame_io_server.js",
        client="boardgame_io_client.js",
        lives=5,
    ),
    Peer(
        name="boardgame.io, file store",
        durable="in part",
        server="boardgame_io_server.js",
        client="boardgame_io_client.js",
        lives=1,
        has_files=True,
    ),
    Peer(
        name="Colyseus, in memory",
        durable="no",
        server="colyseus_server.mjs",
        client="colyseus_client.js",
        lives=10,
    ),
)

DURABLE: dict[str, Durable] = {WAYSTATION: "yes", **{peer.name: peer.durable for peer in PEERS}}
