"""Draw the pictures of the README: for each game a position of a game between two of its agents, `make docs`.

The pictures are drawn by the games' own draw modules, with fixed colours, as SVG.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from agents.registry import agent_names, make_agent
from caravan_env.core.files import write_text
from caravan_env.core.match import play_match
from caravan_env.core.record import Record, replay
from caravan_env.core.registry import game_names, make_game

IMAGES = Path(__file__).resolve().parent / "images"
STRONGEST_FIRST = ("planner", "greedy", "random")
SEED = 7
HOW_FAR = 0.6


def main() -> None:
    """Draw every registered game."""
    for name in game_names():
        write_text(IMAGES / f"{name}.svg", picture(record_of(name)))
        print(f"docs/images/{name}.svg")


def record_of(name: str) -> Record:
    """Return a game between the two strongest agents that the game has."""
    game = make_game(name)
    known = [agent for agent in STRONGEST_FIRST if agent in agent_names(name)]
    specs = [known[seat % 2] for seat in range(game.players)]
    return play_match(game, [make_agent(spec, game, seat) for seat, spec in enumerate(specs)], SEED)


def picture(record: Record) -> str:
    """Return the SVG of the first move after `HOW_FAR` of a game."""
    draw = importlib.import_module(record.game().spec.draw)
    wanted = int(HOW_FAR * len(record.events))
    for number, (event, state) in enumerate(replay(record)):
        if event is not None and event.kind == "move" and number >= wanted:
            return str(draw.draw_svg(state.to_json(), event.text, theme="light", names=record.header["agents"]))
    raise ValueError("the game has no moves")


if __name__ == "__main__":
    main()
