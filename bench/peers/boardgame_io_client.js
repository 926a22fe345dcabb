'use strict';
// Players of boardgame.io: its lobby over HTTP, then one socket.io connection each, as its own client speaks.

const { io } = require('socket.io-client');

class Client {
  constructor(port) {
    this.address = `http://127.0.0.1:${port}`;
  }

  /** Opens a match with both players; `heed(seat, ply)` hears of every position that arrives. */
  async open(seed, heed) {
    const { matchID } = await this.ask('create', { numPlayers: 2, setupData: { seed } });
    const seats = [];
    for (const playerID of ['0', '1']) {
      const { playerCredentials } = await this.ask(`${matchID}/join`, { playerID, playerName: `player ${playerID}` });
      seats.push(await this.connect(matchID, playerID, playerCredentials, heed));
    }
    return { play: (seat, move) => seats[seat](move) };
  }

  async ask(path, body) {
    const answer = await fetch(`${this.address}/games/make_way/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} was refused: ${answer.status}`);
    return answer.json();
  }

  /** Follows a match as one player, and answers with a function that makes that player's moves. */
  async connect(matchID, playerID, credentials, heed) {
    const socket = io(`${this.address}/make_way`, { transports: ['websocket'], forceNew: true, reconnection: false });
    let stateID;
    const see = (state) => {
      stateID = state._stateID;
      heed(Number(playerID), state.G.ply);
    };
    socket.on('update', (_, state) => see(state));
    socket.on('disconnect', (reason) => {
      throw new Error(`a player was disconnected: ${reason}`);
    });
    await new Promise((synced) => {
      socket.on('sync', (_, { state }) => synced(see(state)));
      socket.on('connect', () => socket.emit('sync', matchID, playerID, credentials, 2));
    });
    return (move) => {
      const payload = { type: 'play', args: [move], playerID, credentials };
      socket.emit('update', { type: 'MAKE_MOVE', payload }, stateID, matchID, playerID);
    };
  }
}

module.exports = { Client };
