"""The rules that can make a move illegal, by the ids that every MoveIllegal of this title names."""

RULES = {
    "game-is-over": "After the last turn nobody moves any more.",
    "place-after-drawing": "Drawn crystals must be placed before anything else, and only drawn ones are.",
    "draw-needs-three": "One draws exactly three crystals, so the bag must hold at least three.",
    "place-one-or-two": "Of the three drawn crystals one or two are placed, never three.",
    "place-when-possible": "Nothing is placed only if none of the drawn crystals can be.",
    "place-drawn-crystals": "Only crystals drawn this turn are placed, each once.",
    "crystal-on-own-path": "A coloured crystal goes on the path of its colour; a wild goes on any.",
    "goal-takes-no-crystal": "A path whose every space is lit has reached its goal and takes no crystal.",
    "declare-once": "The end is declared at most once in a game.",
    "declare-with-empty-bag": "Whoever declares the end has emptied the own bag by this turn's draw.",
    "declare-after-zero": "Whoever declares the end has a path that has reached its zero-point space.",
    "take-from-pool": "Only crystals that lie in the pool are taken.",
    "take-base": "A take is one colour of the pool, all of it.",
    "take-any-two": "With the Pedlar in the pool a take is exactly two crystals of any colours.",
    "take-one-of-each": "With the Painter in the pool a take is one crystal of every colour in the pool.",
    "take-scarcest": "With the Hermit in the pool a take is all of a scarcest colour there.",
    "take-any-five": "With the Porter in the pool a take is exactly five crystals of any colours.",
    "take-two-colours": "With the Twins in the pool a take is two colours of the pool, all of both.",
    "take-most-frequent": "With the Giant in the pool a take is all of a most frequent colour there.",
}
