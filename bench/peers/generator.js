'use strict';
// The generator for peers, a closed loop as in bench/load.py: node generator.js JOB, a JSON object of
//   client   the file whose Client speaks the peer's protocol      port     of its server
//   matches  how many are played at once                           seconds  the longest that moves are timed for
//   warm     matches that each of them plays before, untimed       lives    and those that are timed
//
// Prints "ready" when all matches are open and warm, plays after a line on its standard input, and prints what
// bench.load.Played reads. A move counts when both players' clients have the position after it.

const readline = require('node:readline');
const { legalMoves, opened, play, shuffledDeck } = require('./make_way.js');

const OPENING_AT_ONCE = 16;
const WARM_TURNS = 4; // of every match, as in bench/load.py
const WARM_S_MAX = 3;
const LIFE_S_MAX = 180; // with opening; a server that no longer answers is not waited for

/** A whole match at random, played in advance: who moves, and what. */
function script(seed) {
  const position = opened(shuffledDeck(seed));
  const turns = [];
  for (let seat = 0, moves; (moves = legalMoves(position, seat)).length; seat = 1 - seat) {
    const move = moves[Math.floor(Math.random() * moves.length)];
    play(position, seat, move);
    turns.push({ seat, move });
  }
  return turns;
}

class Board {
  constructor(seed) {
    this.seed = seed;
    this.turns = script(seed);
    this.next = 0;
    this.seen = [0, 0];
    this.done = () => {};
  }

  get isPlayed() {
    return this.next === this.turns.length;
  }

  async open(client) {
    this.match = await client.open(this.seed, (seat, ply) => this.heed(seat, ply));
    for (let turn = 0; turn < WARM_TURNS; turn++) await this.play();
  }

  heed(seat, ply) {
    this.seen[seat] = ply;
    if (Math.min(...this.seen) === this.next) this.done();
  }

  /** The next turn, until it counts. */
  play() {
    const { seat, move } = this.turns[this.next++];
    return new Promise((done) => {
      this.done = done;
      this.match.play(seat, move);
    });
  }
}

async function openAll(job) {
  const { Client } = require(`./${job.client}`);
  const client = new Client(job.port);
  const boards = Array.from({ length: job.matches * (job.warm + job.lives) }, (_, number) => new Board(number + 1));
  const left = boards.values();
  const open = async () => {
    for (const board of left) await board.open(client);
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, open));
  return boards;
}

/** Each of `atOnce` slots plays its boards one after the other; the milliseconds of every move. */
async function closedLoop(boards, atOnce, seconds) {
  const latencies = [];
  const end = performance.now() + seconds * 1000;
  const slot = async (first) => {
    for (let number = first; number < boards.length; number += atOnce) {
      for (let due; !boards[number].isPlayed && (due = performance.now()) < end; ) {
        await boards[number].play();
        latencies.push(performance.now() - due);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, first) => slot(first)));
  return latencies;
}

function cpuS() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function timed(boards, job) {
  const [started, cpu] = [performance.now(), cpuS()];
  const latencies = await closedLoop(boards, job.matches, job.seconds);
  const seconds = (performance.now() - started) / 1000;
  return { seconds, latencies_ms: latencies, late: 0, cpu_s: cpuS() - cpu };
}

async function main(job) {
  setTimeout(() => {
    throw new Error('the server no longer answers');
  }, (LIFE_S_MAX + job.seconds) * 1000);
  const boards = await openAll(job);
  const timedFrom = job.matches * job.warm;
  await closedLoop(boards.slice(0, timedFrom), job.matches, WARM_S_MAX);
  console.log('ready');
  const lines = readline.createInterface({ input: process.stdin });
  lines.once('line', async () => {
    const found = JSON.stringify(await timed(boards.slice(timedFrom), job));
    process.stdout.write(`${found}\n`, () => process.exit(0));
  });
}

main(JSON.parse(process.argv[2]));
