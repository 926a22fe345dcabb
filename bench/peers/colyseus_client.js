'use strict';
// Players of Colyseus: its own SDK, one connection each, which decodes every change into the whole position.

const sdk = require('@colyseus/sdk');

class Client {
  constructor(port) {
    this.lobby = new sdk.Client(`ws://127.0.0.1:${port}`);
  }

  /** Opens a match with both players; `heed(seat, ply)` hears of every position that arrives. */
  async open(seed, heed) {
    const first = await this.lobby.create('make_way', { seed });
    await follow(first, 0, heed);
    const second = await this.lobby.joinById(first.roomId);
    await follow(second, 1, heed);
    const rooms = [first, second];
    return { play: (seat, move) => rooms[seat].send('play', move) };
  }
}

function follow(room, seat, heed) {
  room.reconnection.enabled = false;
  room.onMessage('refused', () => {
    throw new Error('a move was refused');
  });
  room.onLeave((code) => {
    throw new Error(`a player was disconnected: ${code}`);
  });
  return new Promise((seen) => {
    room.onStateChange(({ ply }) => seen(heed(seat, ply)));
  });
}

module.exports = { Client };
