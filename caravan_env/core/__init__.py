"""The core: numpy and numba only. It knows no game and no reinforcement-learning library."""
