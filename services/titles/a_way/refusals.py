"""What the rules forbid, one id and one sentence each; every refused move names one of them."""

from collections.abc import Mapping

RULES: Mapping[str, str] = {
    "phase-allows-move": "A turn is one main action (fly, play cards, or discard), then a flight or none.",
    "flight-ends-on-next-stop": "A flight ends on a next free station along the tracks, or on the home base.",
    "card-in-hand": "A card is played or discarded from the own hand.",
    "discards-differ": "The cards of one discard are different cards.",
    "one-faction-a-turn": "All cards of a turn have the faction of the card played last.",
    "params-fit-card": "Each card takes the parameters that belong to it, and no others.",
    "cell-is-free": "A card is laid on a cell that holds neither a card nor a base.",
    "cell-touches-card": "A card is laid next to another Solar or Exploration card; a base does not count.",
    "own-ship-off-base": "Hyperdrive! and Solar Winds cannot move a ship that stands on a base.",
    "hyperdrive-by-two-stations": "Hyperdrive! moves by two stations, or by one where there is no second.",
    "winds-end-on-next-stop": "Solar Winds move the own ship by one station, and need not heed arrows.",
    "pirates-attack-another": "Pirate Attack! moves the ship of another seat.",
    "attacked-ship-off-base": "Pirate Attack! cannot move a ship that stands on a base.",
    "attack-ends-on-station": "Pirate Attack! moves a ship to a next free station, never onto a base.",
    "card-on-map": "Only a Solar or Exploration card that lies on the map can be chosen.",
    "tornado-takes-exploration": "Solar Tornado moves an Exploration card.",
    "card-without-ship": "A card with a ship on it is neither turned nor moved.",
    "rotation-differs": "Unstable Magnetic Field! turns a card to another orientation than it has.",
    "line-has-card": "Black Hole takes a row or column with at least one card.",
    "line-without-ship": "Black Hole spares a row or column with a ship in it.",
    "line-without-base": "Black Hole spares a row or column with a base in it.",
    "card-can-be-drawn": "Unknown Fate needs a card to draw.",
    "pile-holds-card": "Scrap Yard needs a card on the discard pile.",
}
