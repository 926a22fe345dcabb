// node colyseus_server.mjs PORT: Colyseus with its ws transport. Every move is sent to both players as it is made.
// A module, as Colyseus is: `require` would load a second copy of its schemas.

import { Room, Server } from '@colyseus/core';
import { ArraySchema, StateView, schema, t } from '@colyseus/schema';
import { WebSocketTransport } from '@colyseus/ws-transport';
import { opened, play, shuffledDeck } from './make_way.js';

const Player = schema({ hand: t.array('uint8').view() }, 'Player'); // sent to those alone whose view holds it
const Position = schema(
  {
    cells: t.array('uint8'),
    supply: t.array('uint8'),
    scores: t.array('uint8'),
    spent: t.array('uint8'),
    players: t.array(Player),
    ply: t.uint8(),
  },
  'Position',
);

function synced({ cells, supply, scores, spent, players, secret, ply }) {
  const position = new Position();
  position.cells = new ArraySchema(...cells);
  position.supply = new ArraySchema(...supply);
  position.scores = new ArraySchema(...scores);
  position.spent = new ArraySchema(...spent);
  position.players = new ArraySchema(
    ...[0, 1].map((seat) => {
      const player = new Player();
      player.hand = new ArraySchema(...players[seat].hand);
      return player;
    }),
  );
  position.ply = ply;
  position.secret = secret; // no field of the schema: sent to nobody
  return position;
}

class MakeWay extends Room {
  maxClients = 2;
  patchRate = 1000; // the cheapest: without any, 0.18 ticks every room's clock 60 times a second
  seats = [];

  onCreate({ seed }) {
    this.state = synced(opened(shuffledDeck(seed)));
    this.onMessage('play', (client, move) => {
      if (play(this.state, this.seats.indexOf(client.sessionId), move)) this.broadcastPatch();
      else client.send('refused');
    });
  }

  onJoin(client) {
    client.view = new StateView();
    client.view.add(this.state.players[this.seats.length]);
    this.seats.push(client.sessionId);
  }
}

const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define('make_way', MakeWay);
server.listen(Number(process.argv[2]), '127.0.0.1');
