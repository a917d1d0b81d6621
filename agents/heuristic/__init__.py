"""Scripted agents that know a particular game: one module or package per game, see `agents.registry`."""
