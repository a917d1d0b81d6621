from __future__ import annotations
import dataclasses
@dataclasses.dataclass
class Score:
    opponent: str
    score: float
def evaluate(*a): return []
def write_results(*a): pass
