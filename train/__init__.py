"""Self-play training: configurations, PPO against a league, checkpoints to go on from, evaluation, plots."""
