"""Learned values of positions: networks that are evaluated inside the kernels, and the agents that play by them."""
