"""Self-play training: typed configurations, PPO against a league, checkpoints that a run goes on from, evaluation, plots."""
