'use strict';
// Reads {deck, moves, every} from standard input and plays `moves` by the peers' rules. Prints, for each position
// from the first to the last: {scores, legal, accepted}, the last being those of `every` that would be played.

const { readFileSync } = require('node:fs');
const { legalMoves, opened, play } = require('../../../bench/peers/make_way.js');

const { deck, moves, every } = JSON.parse(readFileSync(0));
const position = opened(deck);
const positions = [];
for (const move of [...moves, null]) {
  const seat = position.ply % 2;
  const accepted = every.filter((other) => play(structuredClone(position), seat, other));
  positions.push({ scores: [...position.scores], legal: legalMoves(position, seat), accepted });
  if (move && !play(position, seat, move)) throw new Error(`refused: ${JSON.stringify(move)}`);
}
console.log(JSON.stringify(positions));
