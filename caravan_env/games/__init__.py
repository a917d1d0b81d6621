"""The games, a folder each; they never import each other."""
