"""A game against agents in the browser: `menu` is what can be chosen, `session` a game, `app` the HTTP around them."""
