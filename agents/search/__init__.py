"""Monte-Carlo tree search for every game, and what it judges positions by."""
