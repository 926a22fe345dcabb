'use strict';
// node boardgame_io_server.js PORT [FOLDER]: boardgame.io's own server, in memory or with its file store in FOLDER.

const { INVALID_MOVE, PlayerView } = require('boardgame.io/core');
const { FlatFile, Server } = require('boardgame.io/server');
const { TURNS, opened, play, shuffledDeck } = require('./make_way.js');

const [port, folder] = process.argv.slice(2);

const makeWay = {
  name: 'make_way',
  minPlayers: 2,
  maxPlayers: 2,
  setup: (_, { seed }) => opened(shuffledDeck(seed)),
  playerView: PlayerView.STRIP_SECRETS, // no deck, and of `players` one's own alone
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    play: ({ G, playerID }, move) => (play(G, Number(playerID), move) ? undefined : INVALID_MOVE),
  },
  endIf: ({ G }) => (G.ply === TURNS ? { scores: [...G.scores] } : undefined),
};

const db = folder ? new FlatFile({ dir: folder }) : undefined;
Server({ games: [makeWay], db, origins: [] }).run(Number(port));
