"""Arenas: which agents meet at which tables, the games between them, and the file that keeps what came of each batch.

A table is a list of agents, one per seat. Its games come in batches of `BATCH` deals, each deal played with every
rotation of the seats; batch b has the same chance at every table. The file is JSON lines, see docs/formats.md.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena import play_games
from agents.ratings import TableResults
from agents.registry import BEST, NOISY, POLICY, make_agent, noisy_parts, with_options
from agents.shipped import best_spec
from caravan_env import __version__
from caravan_env.core.errors import BadParams, CaravanError
from caravan_env.core.game import Game

FORMAT = 1
GAMES = "games.jsonl"
BATCH = 10  # deals
MIXED = 10  # tables of different agents that each agent at least joins, if there are so many

Table = tuple[str, ...]
Float = NDArray[np.float64]


class BadArena(CaravanError, ValueError):
    """A file of games that is damaged, or that holds games of something else."""


class Stopped(Exception):
    """A batch was given up because nobody waits for it any more."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A batch of games: batch `number` of a table."""

    table: Table
    number: int


# ----------------------------------------------------------------------------------------------------------- schedule


def schedule(agents: Sequence[str], players: int) -> list[Table]:
    """Return the tables of a round robin.

    For two players these are all pairs. For more, each agent sits alone against each other agent in all other seats,
    and there are mixed tables of different agents: all of them while an agent joins at most `MIXED` with those before
    it, else that many, with those whom it and the others have met least. The tables of the first n agents are always
    among those of the first n + 1, so an agent that is added later costs only its own games.

    Args:
        agents: their names, in the order in which they came.
        players: number of seats, at least 2.
    """
    tables: list[Table] = []
    for number, agent in enumerate(agents):
        before = agents[:number]
        if players == 2:
            tables += [(other, agent) for other in before]
            continue
        for other in before:
            tables += [(other, *[agent] * (players - 1)), (agent, *[other] * (players - 1))]
        tables += _mixed(agent, before, players, tables)
    return tables


def _mixed(agent: str, before: Sequence[str], players: int, tables: Sequence[Table]) -> list[Table]:
    """Return the mixed tables of an agent with those before it."""
    possible = list(itertools.islice(itertools.combinations(before, players - 1), MIXED + 1))
    if len(possible) <= MIXED:
        return [(*others, agent) for others in possible]
    met = {frozenset(pair): 0 for pair in itertools.combinations([*before, agent], 2)}
    for table in filter(_is_mixed, tables):
        _note_meetings(met, table)
    chosen: list[Table] = []
    for _ in range(MIXED):
        chosen.append(_least_met(agent, before, players, met, chosen))
        _note_meetings(met, chosen[-1])
    return chosen


def _is_mixed(table: Table) -> bool:
    return len(set(table)) == len(table)


def _note_meetings(met: dict[frozenset[str], int], table: Table) -> None:
    for pair in itertools.combinations(table, 2):
        met[frozenset(pair)] += 1


def _least_met(
    agent: str, before: Sequence[str], players: int, met: Mapping[frozenset[str], int], chosen: Sequence[Table]
) -> Table:
    """Return a new table of the agent with others, each of whom it, and then those already there, have met least."""
    table = [agent]

    def meetings(other: str) -> tuple[int, int]:
        counts = [met[frozenset((other, there))] for there in table]
        return counts[0], sum(counts)

    def leads_to_a_new_one(other: str) -> bool:
        used = sum({*table, other} <= set(old) for old in chosen)
        return used < math.comb(len(before) - len(table), players - 1 - len(table))

    while len(table) < players:
        table.append(min((o for o in before if o not in table and leads_to_a_new_one(o)), key=meetings))
    return (*sorted(table[1:], key=before.index), agent)


def batches_of(games: int, players: int) -> int:
    """Return the batches that a table plays so that each has at least `games` games."""
    return -(-games // (BATCH * players))


# ------------------------------------------------------------------------------------------------------------ playing


def play_batch(game: Game, job: Job, seed: int, progress: Callable[[int], None] | None = None) -> Float:
    """Play a batch and return its (BATCH, seatings, seats) returns in the order of the table's agents.

    Args:
        game: the variant.
        job: the table and the number of the batch, which with the seed decides chance and the agents' lots.
        seed: of the arena.
        progress: see `agents.arena.play_games`.
    """
    own_seed = int(np.random.SeedSequence(seed, spawn_key=(job.number,)).generate_state(1)[0])
    games = BATCH * game.players
    result = play_games(game, job.table, games, own_seed, rows=games, progress=progress)
    return result.returns.reshape(BATCH, game.players, game.players)


@contextlib.contextmanager
def crew(jobs: int) -> Iterator[tuple[Executor, Callable[[int], None]]]:
    """Yield threads, and a `progress` for their games that raises Stopped once the block has been left.

    Kernels let other threads work, so threads are enough; what is played does not depend on their number.
    """
    if jobs < 1:
        raise BadParams(f"jobs = {jobs} is not possible: at least one is needed")
    over = Event()

    def check(_finished: int) -> None:
        if over.is_set():
            raise Stopped

    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool, check
    finally:
        over.set()
        pool.shutdown(cancel_futures=True)


def frozen(spec: str, game: Game) -> tuple[str, str]:
    """Return what is to be played for a spec as long as an arena runs, and a digest of the files it rests on.

    The path of a run means its last checkpoint, and training may go on; `best` means what it is now; scripted agents
    rest on no files.
    """
    kind, _, rest = spec.partition(":")
    if kind == NOISY:
        share, inner = noisy_parts(rest)
        played, digest = frozen(inner, game)
        return f"{NOISY}:{share:g}:{played}", digest
    if kind == BEST:
        return frozen(with_options(best_spec(game), rest), game)
    if ".py:" in spec:
        return spec, _digest(Path(spec.rpartition(":")[0]))
    if kind == POLICY:
        from agents.neural import DESCRIPTION, resolve

        path, *options = rest.split(",")
        folder = resolve(path)
        return ",".join([f"{POLICY}:{folder}", *options]), _digest(folder / DESCRIPTION)
    leaf = rest.partition("leaf=")[2].partition(",")[0]
    if leaf and Path(leaf).is_dir():
        from agents.neural import DESCRIPTION, resolve

        folder = resolve(leaf)
        return spec.replace(f"leaf={leaf}", f"leaf={folder}"), _digest(folder / DESCRIPTION)
    return spec, ""


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


# ------------------------------------------------------------------------------------------------------------ storage


@dataclasses.dataclass
class Stored:
    """What a file of games holds.

    Attributes:
        header: its first line.
        digests: agent -> see `frozen`, in the order in which the agents came.
        results: batch -> (BATCH, seatings, seats) returns.
        size: bytes of the whole lines; a torn line may follow.
    """

    header: dict[str, Any]
    digests: dict[str, str]
    results: dict[Job, Float]
    size: int


def read_games(path: Path) -> Stored | None:
    """Return what a file of games holds, or None if there is no file or no whole line in it.

    A last line without its end, which a crash may leave, does not count.

    Raises:
        BadArena: a line is damaged; the message names it.
    """
    text = path.read_bytes() if path.exists() else b""
    size = text.rfind(b"\n") + 1
    stored = Stored({}, {}, {}, size)
    for number, line in enumerate(text[:size].splitlines(), 1):
        try:
            _take(stored, json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise BadArena(f"{path}, line {number} is damaged ({type(error).__name__}: {error})") from error
    if size and stored.header.get("format") != FORMAT:
        raise BadArena(
            f"{path} is no file of an arena's games in format {FORMAT}, the one that this package reads and writes"
        )
    return stored if size else None


def _take(stored: Stored, line: dict[str, Any]) -> None:
    """Put a line of the file where it belongs."""
    if line["type"] == "header":
        stored.header = line
    elif line["type"] == "agent":
        stored.digests[line["agent"]] = line["digest"]
    elif line["type"] == "games":
        seats = len(line["table"])
        returns = np.array(line["returns"], dtype=np.float64)
        if returns.shape != (BATCH, seats, seats):
            raise ValueError(f"returns of shape {returns.shape}")
        stored.results[Job(tuple(line["table"]), int(line["batch"]))] = returns
    else:
        raise ValueError(f"type {line['type']!r}")


class Arena:
    """Agents, and all games that they have played against each other.

    Raises:
        BadArena: the folder holds games of another game, variant, seed, or of agents that are not named now, or an
            agent has changed since; the message says what differs.
        BadParams: not at least two different agents and two seats, or a number of games that is not possible.
    """

    def __init__(self, game: Game, agents: Sequence[str], folder: Path, seed: int = 0) -> None:
        _check(game, agents)
        self.game = game
        self.seed = seed
        self.path = folder / GAMES
        self.played = {agent: frozen(agent, game) for agent in agents}
        for spec, _ in self.played.values():
            make_agent(spec, game)  # says what is wrong with it before anything is played
        stored = read_games(self.path)
        if stored is not None:
            self._check_stored(stored)
        old = list(stored.digests) if stored else []
        self.agents = [*old, *(agent for agent in agents if agent not in old)]
        self.results: dict[Job, Float] = stored.results if stored else {}

    def missing(self, games: int) -> list[Job]:
        """Return the batches that are still to be played for at least `games` games at each table."""
        if games < 1:
            raise BadParams(f"an arena needs at least one game at a table, not {games}")
        tables = schedule(self.agents, self.game.players)
        numbers = range(batches_of(games, self.game.players))
        return [job for number in numbers for table in tables if (job := Job(table, number)) not in self.results]

    def games_in(self, jobs: Sequence[Job]) -> int:
        """Return the number of games in batches."""
        return len(jobs) * BATCH * self.game.players

    def play(self, jobs: Iterable[Job], threads: int = 1, progress: Callable[[int], None] | None = None) -> None:
        """Play batches, and append each to the file when it has ended.

        Args:
            jobs: what to play, see `missing`.
            threads: how many batches are played at once; results do not depend on it.
            progress: called with the number of games of each batch that has ended.
        """
        with crew(threads) as (pool, check):
            self._begin()
            futures = {pool.submit(self._play, job, check): job for job in jobs}
            for future in as_completed(futures):
                job, returns = futures[future], future.result()
                self.results[job] = returns
                self._append([{"type": "games", "table": job.table, "batch": job.number, "returns": returns.tolist()}])
                if progress is not None:
                    progress(BATCH * self.game.players)

    def tables(self) -> list[TableResults]:
        """Return all games that were played, table by table, as far as the deals are without a gap."""
        tables: list[TableResults] = []
        for table in dict.fromkeys(job.table for job in sorted(self.results, key=lambda job: job.table)):
            whole = itertools.takewhile(lambda job: job in self.results, (Job(table, n) for n in itertools.count()))
            returns = [self.results[job] for job in whole]
            if returns:
                tables.append(TableResults(table, np.concatenate(returns)))
        return tables

    def _play(self, job: Job, check: Callable[[int], None]) -> Float:
        played = Job(tuple(self.played[agent][0] for agent in job.table), job.number)
        return play_batch(self.game, played, self.seed, check)

    def _begin(self) -> None:
        """Remove a torn line, and write the header and the agents that are new."""
        stored = read_games(self.path)
        known = stored.digests if stored else {}
        lines = [] if stored else [self._header()]
        lines += [
            {"type": "agent", "agent": agent, "digest": self.played[agent][1]}
            for agent in self.agents
            if agent not in known
        ]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.truncate(stored.size if stored else 0)
        self._append(lines)

    def _append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())

    def _header(self) -> dict[str, Any]:
        return {"type": "header", "format": FORMAT, **self._identity(), "package": __version__}

    def _identity(self) -> dict[str, Any]:
        params = json.loads(json.dumps(self.game.params.to_json()))
        return {"game": self.game.name, "version": self.game.spec.version, "params": params, "seed": self.seed}

    def _check_stored(self, stored: Stored) -> None:
        """Raise BadArena unless the file is of this arena."""
        for key, value in self._identity().items():
            theirs = stored.header.get(key)
            if theirs != value:
                raise BadArena(f"{self.path} holds games with {_difference(key, theirs, value)}; choose another --out")
        left = [agent for agent in stored.digests if agent not in self.played]
        if left:
            raise BadArena(
                f"{self.path} holds games of {', '.join(left)} too; name them as well, or choose another --out"
            )
        for agent, digest in stored.digests.items():
            if self.played[agent][1] != digest:
                raise BadArena(
                    f"{agent} has changed since the games in {self.path} were played; "
                    "name the checkpoint or file of that time, or choose another --out"
                )


def _difference(key: str, theirs: Any, ours: Any) -> str:
    """Return in words how an entry of the header differs; of rule switches only those that do."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        return ", ".join(_difference(name, theirs.get(name), ours.get(name)) for name in names)
    return f"{key} = {theirs!r}, not {ours!r}"


def _check(game: Game, agents: Sequence[str]) -> None:
    twice = [agent for agent in dict.fromkeys(agents) if agents.count(agent) > 1]
    if twice:
        raise BadParams(f"the agent {twice[0]} is named twice")
    if len(agents) < 2:
        raise BadParams(f"an arena needs at least two agents, not {len(agents)}")
    if game.players < 2:
        raise BadParams(f"an arena needs a game of at least two seats, and this variant of {game.name} has one")
