"""catanatron: games of Catan between two of its random players, in plies (one decision by one player) per second."""

from __future__ import annotations

from catanatron.game import Game
from catanatron.models.player import Color, RandomPlayer
from common import emit, parser, rate, versions


def play() -> int:
    """Play one game; return the number of plies, which the game's own log holds."""
    game = Game([RandomPlayer(Color.RED), RandomPlayer(Color.BLUE)])
    game.play()
    return len(game.state.actions)


def main() -> None:
    """Measure whole games, making the board of each game included."""
    options = parser(__doc__).parse_args()
    about = {"versions": versions("catanatron"), "game": "catan", "players": 2, "actions": "uniformly random legal"}
    emit("catanatron", "loop", rate(play, options.seconds), **about)


if __name__ == "__main__":
    main()
