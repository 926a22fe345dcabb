'use strict';
// The rules of Make Way! (seeds/make_way/rules.md) with three rounds, fixed lanes, and seat 0 to begin.
//
// A position is a plain object, a draft of immer or a schema of Colyseus:
//   cells[36]            0 empty, else seat + 1; a tile [lane, rank] is cell 6 * lane + rank - 1
//   supply[2] scores[2]  by seat
//   spent[12]            cards spent: six symbols of seat 0, then of seat 1
//   players[seat].hand   how many cards of each symbol; for that seat alone
//   secret.deck          cards to come, top first; for nobody
//   ply                  turns taken
// Moves are the JSON documents that Waystation takes.

const SYMBOLS = ['drop', 'wheel', 'hammers', 'bricks', 'circles', 'arrow'];
const [LANES, RANKS, CELLS, PIECES, HAND, TURNS] = [6, 6, 36, 9, 9, 54];
const ROUND = 2 * HAND;
const AHEAD = [1, -1]; // by seat, in cells
const FIRST_RANK = [1, RANKS];
const LAST_RANK = [RANKS, 1];

const laneOf = (cell) => Math.floor(cell / RANKS);
const rankOf = (cell) => (cell % RANKS) + 1;
const onRing = (cell) => (cell + CELLS) % CELLS;

function cellOf(tile) {
  if (!Array.isArray(tile) || !tile.every(Number.isInteger)) return -1;
  const [lane, rank] = tile;
  return lane >= 0 && lane < LANES && rank >= 1 && rank <= RANKS ? lane * RANKS + rank - 1 : -1;
}

/** All 54 cards in an order that `seed`, a positive integer, determines (xorshift32, Fisher-Yates). */
function shuffledDeck(seed) {
  const deck = Array.from({ length: TURNS }, (_, number) => number % SYMBOLS.length);
  let word = seed | 0;
  for (let last = deck.length - 1; last > 0; last--) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    const chosen = (word >>> 0) % (last + 1);
    [deck[last], deck[chosen]] = [deck[chosen], deck[last]];
  }
  return deck;
}

function deal(position) {
  for (const seat of [0, 1]) {
    for (const card of position.secret.deck.splice(0, HAND)) position.players[seat].hand[card] += 1;
  }
}

/** The first position with `deck`; plain. */
function opened(deck) {
  const nothing = () => SYMBOLS.map(() => 0);
  const position = {
    cells: Array(CELLS).fill(0),
    supply: [PIECES, PIECES],
    scores: [0, 0],
    spent: [...nothing(), ...nothing()],
    players: { 0: { hand: nothing() }, 1: { hand: nothing() } },
    secret: { deck: [...deck] },
    ply: 0,
  };
  deal(position);
  return position;
}

/** What a step changes, `{from, to, beyond}` as cells or -1; null when a rule forbids it. */
function stepped(position, seat, card, step) {
  if (step === null || typeof step !== 'object') return null;
  const { cells } = position;
  const isOwn = (cell) => cells[cell] === seat + 1;
  const from = step.kind === 'enter' ? -1 : cellOf(step.from);
  if (step.kind !== 'enter' && (from < 0 || !isOwn(from))) return null;

  if (step.kind === 'shift') {
    if (step.dir !== 1 && step.dir !== -1) return null;
    const to = onRing(from + RANKS * step.dir);
    const beyond = onRing(to + RANKS * step.dir);
    if (laneOf(to) !== card || (cells[to] && cells[beyond])) return null;
    return { from, to, beyond: cells[to] ? beyond : -1 };
  }
  if (step.kind === 'advance' && rankOf(from) !== LAST_RANK[seat]) {
    return ahead(cells, seat, card, from, from + AHEAD[seat]);
  }
  if (step.kind === 'enter' && position.supply[seat]) {
    const to = cellOf(step.to);
    const isBehindOwn = to >= 0 && rankOf(to) !== LAST_RANK[seat] && isOwn(to + AHEAD[seat]);
    if (isBehindOwn || rankOf(to) === FIRST_RANK[seat]) return ahead(cells, seat, card, from, to);
  }
  return null;
}

/** A piece comes onto `to` from behind: only an opponent there is pushed, onto a free tile. */
function ahead(cells, seat, card, from, to) {
  if (laneOf(to) !== card || cells[to] === seat + 1) return null;
  if (!cells[to]) return { from, to, beyond: -1 };
  const beyond = to + AHEAD[seat];
  return rankOf(to) === LAST_RANK[seat] || cells[beyond] ? null : { from, to, beyond };
}

/** Plays a move that the rules allow; false, and nothing changed, for any other. */
function play(position, seat, move) {
  const card = SYMBOLS.indexOf(move && move.card);
  const { hand } = position.players[seat];
  if (card < 0 || !hand[card] || position.ply === TURNS || position.ply % 2 !== seat) return false;
  if (move.type === 'play') {
    const change = stepped(position, seat, card, move.move);
    if (!change) return false;
    place(position, seat, change);
  } else if (move.type !== 'discard' || legalPlays(position, seat).length) {
    return false;
  }
  hand[card] -= 1;
  position.spent[SYMBOLS.length * seat + card] += 1;
  position.ply += 1;
  if (position.ply % ROUND === 0 && position.ply < TURNS) deal(position);
  return true;
}

function place(position, seat, { from, to, beyond }) {
  const { cells, scores } = position;
  if (beyond >= 0) cells[beyond] = cells[to];
  if (from >= 0) cells[from] = 0;
  else position.supply[seat] -= 1;
  cells[to] = seat + 1;
  [scores[0], scores[1]] = totals([...cells]);
}

/** By seat: for each piece the tiles of its lane from its own back to the nearest opponent. */
function totals(cells) {
  const found = [0, 0];
  cells.forEach((owner, cell) => {
    if (!owner) return;
    const seat = owner - 1;
    let at = cell;
    do {
      found[seat] += 1;
      if (rankOf(at) === FIRST_RANK[seat]) return;
      at -= AHEAD[seat];
    } while (cells[at] !== 2 - seat);
  });
  return found;
}

function stepsInto(lane) {
  const ranks = Array.from({ length: RANKS }, (_, number) => number + 1);
  return ranks.flatMap((rank) => [
    { kind: 'advance', from: [lane, rank] },
    { kind: 'shift', from: [(lane + 1) % LANES, rank], dir: -1 },
    { kind: 'shift', from: [(lane + LANES - 1) % LANES, rank], dir: 1 },
    { kind: 'enter', to: [lane, rank] },
  ]);
}

const PLAYS = SYMBOLS.map((card, lane) => stepsInto(lane).map((move) => ({ type: 'play', card, move })));
const DISCARDS = SYMBOLS.map((card) => ({ type: 'discard', card }));

const held = (position, seat) => SYMBOLS.map((_, card) => card).filter((card) => position.players[seat].hand[card]);

function legalPlays(position, seat) {
  return held(position, seat).flatMap((card) =>
    PLAYS[card].filter(({ move }) => stepped(position, seat, card, move)),
  );
}

/** Of the seat whose turn it is. */
function legalMoves(position, seat) {
  const plays = legalPlays(position, seat);
  return plays.length ? plays : held(position, seat).map((card) => DISCARDS[card]);
}

module.exports = { SYMBOLS, TURNS, legalMoves, opened, play, shuffledDeck };
