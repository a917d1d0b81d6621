"""The HTTP around the games: one page, and JSON that its script asks for.

Nothing here reads or writes a file for a request. Changes need `Content-Type: application/json` and the server's own
host name, so that a page from elsewhere cannot make them in the person's browser.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from caravan_env.core.errors import CaravanError
from caravan_env.viewer.html import asset, fill, script_json
from caravan_env.web.menu import Preset, menu
from caravan_env.web.session import MOST_SESSIONS, NoSession, Session, Sessions

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_BYTES = 65_536
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_REQUIRED = object()
Endpoint = Callable[[Request], Awaitable[Response]]


class BadRequest(CaravanError):
    """A request that is not of the form that the page sends."""


def make_app(preset: Preset, most: int = MOST_SESSIONS, hosts: Sequence[str] = LOOPBACK) -> Starlette:
    """Return the application.

    Args:
        preset: what the form of a new game shows first; only it may name files.
        most: how many games are kept.
        hosts: host names that requests may be addressed to; "*" allows every one.
    """
    sessions = Sessions(preset, most)
    page = page_html(preset)
    game = "/api/games/{id}"
    routes = [
        Route("/", _page(page)),
        Route("/api/games", _start(sessions), methods=["POST"]),
        Route(game, _on(sessions, _look)),
        Route(f"{game}/moves", _on(sessions, _move), methods=["POST"]),
        Route(f"{game}/advance", _on(sessions, _advance), methods=["POST"]),
        Route(f"{game}/hint", _hint(sessions), methods=["POST"]),
        Route(f"{game}/record", _on(sessions, _record)),
        Route(f"{game}/replay", _on(sessions, _replay)),
    ]
    handlers: dict[Any, Any] = {CaravanError: _refuse, HTTPException: _refuse_http, Exception: _apologise}
    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)]
    app = Starlette(routes=routes, exception_handlers=handlers, middleware=middleware)
    app.state.sessions = sessions
    return app


def page_html(preset: Preset) -> str:
    """Return the page: self-contained, and the same for every game."""
    parts = {
        "css": asset("page.css", "caravan_env.viewer") + asset("play.css", __package__),
        "js": asset("common.js", "caravan_env.viewer") + asset("play.js", __package__),
        "data": script_json(menu(preset)),
    }
    return fill(asset("play.html", __package__), parts)


def serve(app: Starlette, listening: socket.socket) -> None:
    """Answer requests until Ctrl-C.

    Args:
        app: see `make_app`.
        listening: a bound socket.
    """
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])


# ----------------------------------------------------------------------------------------------------------- endpoints


def _page(html: str) -> Endpoint:
    async def page(_request: Request) -> Response:
        return HTMLResponse(html, headers=SECURITY)

    return page


def _start(sessions: Sessions) -> Endpoint:
    async def start(request: Request) -> Response:
        body = await _body(request)
        chosen = {
            "game": _take(body, "game", str),
            "switches": _take(body, "switches", dict, {}),
            "agents": _strings(body, "agents"),
            "seat": _take(body, "seat", int, 0),
            "seed": _take(body, "seed", int, None),
        }
        session = await run_in_threadpool(lambda: sessions.start(**chosen))
        return await _answer(session)

    return start


def _on(sessions: Sessions, act: Callable[[Session, Request], Awaitable[Response]]) -> Endpoint:
    """Return an endpoint that acts on the game that the address names."""

    async def endpoint(request: Request) -> Response:
        return await act(sessions.find(request.path_params["id"]), request)

    return endpoint


def _hint(sessions: Sessions) -> Endpoint:
    async def hint(session: Session, request: Request) -> Response:
        agent = _take(await _body(request), "agent", str, None)
        return JSONResponse(await run_in_threadpool(sessions.hint, session, agent), headers=SECURITY)

    return _on(sessions, hint)


async def _look(session: Session, request: Request) -> Response:
    return await _answer(session, _since(request))


async def _move(session: Session, request: Request) -> Response:
    body = await _body(request)
    event = _take(body, "event", int)
    await run_in_threadpool(session.play, _take(body, "action", int), event)
    return await _answer(session, event)


async def _advance(session: Session, request: Request) -> Response:
    event = _take(await _body(request), "event", int)
    await run_in_threadpool(session.advance, event)
    return await _answer(session, event)


async def _record(session: Session, _request: Request) -> Response:
    text = await run_in_threadpool(session.record_text)
    name = f'attachment; filename="{session.game_name}.jsonl"'
    return Response(text, media_type="application/x-ndjson", headers={**SECURITY, "Content-Disposition": name})


async def _replay(session: Session, request: Request) -> Response:
    html = await run_in_threadpool(session.replay_text)
    kind = "attachment" if "save" in request.query_params else "inline"
    name = f'{kind}; filename="{session.game_name}.html"'
    return HTMLResponse(html, headers={**SECURITY, "Content-Disposition": name})


async def _answer(session: Session, since: int = 0) -> Response:
    return JSONResponse(await run_in_threadpool(session.view, since), headers=SECURITY)


# -------------------------------------------------------------------------------------------------- reading requests


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request carries."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise BadRequest("a request must have the content type application/json")
    text = bytearray()
    async for piece in request.stream():
        text += piece
        if len(text) > MOST_BYTES:
            raise BadRequest(f"a request has at most {MOST_BYTES} bytes")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"a request must be a JSON object: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest("a request must be a JSON object")
    return body


def _take(body: dict[str, Any], field: str, kind: type, default: Any = _REQUIRED) -> Any:
    """Return a field of a request, checked; a missing one, or null, is the default."""
    value = body.get(field)
    if value is None and default is not _REQUIRED:
        return default
    if type(value) is not kind:
        raise BadRequest(f"the field {field!r} of a request must be of type {kind.__name__}")
    return value


def _strings(body: dict[str, Any], field: str) -> list[str]:
    values: list[str] = _take(body, field, list, [])
    if not all(isinstance(value, str) for value in values):
        raise BadRequest(f"the field {field!r} of a request must be a list of texts")
    return values


def _since(request: Request) -> int:
    text = request.query_params.get("since", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadRequest(f"since = {text!r} is not possible: it must be a number of events")
    return int(text)


# ------------------------------------------------------------------------------------------------------------- errors


def _refuse(_request: Request, error: Exception) -> Response:
    return _sentence(str(error), 404 if isinstance(error, NoSession) else 400)


def _refuse_http(_request: Request, error: HTTPException) -> Response:
    return _sentence(error.detail, error.status_code)


def _apologise(_request: Request, error: Exception) -> Response:
    """Answer for a bug, ours or an agent's; the traceback goes to the terminal."""
    return _sentence(f"something went wrong in the server: {type(error).__name__}: {error}", 500)


def _sentence(text: str, status: int) -> Response:
    return JSONResponse({"error": " ".join(text.split())}, status_code=status, headers=SECURITY)
