"""The server of ``dubio open``: one project, one user, the loopback address only.

Who may talk to it: the first address holds a random key, which becomes a cookie that scripts cannot read. Requests for
another host (DNS rebinding), from another origin (another page) or without the cookie (another user of the machine) are
refused. No path comes from a request: files are named by fixed words.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import secrets
import shlex
import tempfile
import threading
import time
import zipfile
from collections.abc import Awaitable, Callable
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from dubio.errors import InputError
from dubio_app.files import FORMATS
from dubio_app.page.project import Conflict, Project
from dubio_app.page.wording import about_feature, about_line
from dubio_app.page.work import OTHER, RANKING, Work, Workshop

#: Most bytes of a table, of any other file, and of a decision.
MOST_TABLE, MOST_FILE, MOST_REQUEST = 2**30, 64 * 2**20, 8 * 2**20
#: The page ends after this many seconds without a request; a page that is open asks every now and then.
IDLE = 3600.0
_COOKIE = "dubio_key"
#: The files of the page, with their types; the style of the report is that of the page, too.
_SCRIPTS = ("open.js", "parts.js", "table.js", "question.js", "answer.js", "labels.js", "take.js")
_STATIC = {"open.css": "text/css", "open.html": "text/html", **dict.fromkeys(_SCRIPTS, "text/javascript")}
#: What can be taken away: its file in the project and its type.
_TAKE = {
    "kept": ("kept.csv", "text/csv"),
    "labels": ("labels.csv", "text/csv"),
    "corrections": ("corrections.csv", "text/csv"),
    "likely": ("likely.csv", "text/csv"),
    "report": ("report.html", "text/html"),
    "selection": ("selection.json", "application/json"),
    "numbers": ("answer.json", "application/json"),
    "next": ("next.csv", "text/csv"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: The report may run its own script, and save the files that it makes; it cannot ask this server for anything.
_REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"
#: What browsers must not do with any answer.
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: The files that an answer writes.
_REPORT = ("--report=report.html", "--save-table=kept.csv", "--save-selection=selection.json", "--paper=paper")

Handler = Callable[[Request], Awaitable[Response]]


class Page:
    """The page of a project: what the user decided, the work that runs, and the answers."""

    def __init__(self, project: Project, port: int) -> None:
        self.project, self.key = project, secrets.token_urlsafe(32)
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.address = f"http://127.0.0.1:{port}/?key={self.key}"
        self.last_request, self.is_over = time.monotonic(), False
        self._workshop: Workshop | None = None
        self._written: tuple[tuple[int, int], dict[str, Any]] | None = None
        self._works: dict[str, tuple[str, Work]] = {}
        self._starting = threading.Lock()

    def app(self) -> Starlette:
        """The application."""
        routes = {
            "/": self._home,
            "/static/{name}": self._static,
            "/api/state": self._state,
            "/api/work/{job}": self._progress,
            "/api/answer": self._answer,
            "/api/cards": self._cards,
            "/answer/report": self._report,
            "/take/{name}": self._take,
        }
        changes = {
            "/api/table": self._table,
            "/api/example": self._example,
            "/api/decide": self._decide,
            "/api/label": self._label,
            "/api/check": self._check,
            "/api/undo": self._undo,
            "/api/start/{job}": self._start,
            "/api/stop": self._stop,
            "/api/feature": self._feature,
            "/api/line": self._line,
            "/api/draw": self._draw,
            "/api/next": self._next,
            "/api/pairs": self._pairs,
            "/api/corrections": self._corrections,
            "/api/checked": self._checked,
            "/api/delete": self._delete,
        }
        made = [Route(path, self._guarded(one), methods=["GET"]) for path, one in routes.items()]
        made += [Route(path, self._guarded(one), methods=["POST"]) for path, one in changes.items()]
        return Starlette(routes=made)

    def workshop(self) -> Workshop:
        """Where the work is done; a process waits there from now on."""
        if self._workshop is None:
            self._workshop = Workshop(self.project.folder)
        return self._workshop

    def end(self) -> None:
        """Stop everything that runs."""
        if self._workshop is not None:
            self._workshop.close()
            self._workshop = None

    # Who may ask

    def _guarded(self, handler: Handler) -> Handler:
        async def guarded(request: Request) -> Response:
            refused = self._refusal(request)
            response = refused
            if refused is None:
                self.last_request = time.monotonic()
                try:
                    response = await handler(request)
                except Conflict:
                    text = "Another window has changed this project. This page shows it now: please decide again."
                    response = JSONResponse({"error": text}, 409)
                except InputError as error:
                    response = JSONResponse({"error": str(error)}, 400)
                except HTTPException as error:
                    response = JSONResponse({"error": error.detail}, error.status_code)
                except OSError as error:
                    response = JSONResponse({"error": f"The project cannot be written: {error.strerror}."}, 500)
            assert response is not None
            response.headers.update(_HEADERS)
            response.headers.setdefault("Content-Security-Policy", _POLICY)
            return response

        return guarded

    def _refusal(self, request: Request) -> Response | None:
        """Why a request is not answered; None if it is."""
        if request.headers.get("host", "") not in self.hosts:
            return Response("This page is only for this computer.", 421)
        origin = request.headers.get("origin")
        same = {f"http://{host}" for host in self.hosts}
        foreign = request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        if (origin is not None and origin not in same) or (request.method != "GET" and foreign):
            return Response("Requests of other pages are refused.", 403)
        if request.method != "GET" and origin is None and "sec-fetch-site" not in request.headers:
            return Response("The origin of the request is missing.", 403)
        has_key = request.url.path == "/" and _same(request.query_params.get("key", ""), self.key)
        if not has_key and not _same(request.cookies.get(_COOKIE, ""), self.key):
            return Response("Open the address that dubio printed.", 401)
        return None

    # The page

    async def _home(self, request: Request) -> Response:
        if "key" in request.query_params:
            response: Response = RedirectResponse("/", 303)
            response.set_cookie(_COOKIE, self.key, httponly=True, samesite="strict", path="/")
            return response
        return Response(_read("open.html"), media_type="text/html")

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "page.css":
            return Response(_read(name, "report"), media_type="text/css")
        if name not in _STATIC:
            raise HTTPException(404, "There is no such file.")
        return Response(_read(name), media_type=_STATIC[name])

    async def _state(self, request: Request) -> Response:
        """Every decision, and what there is to take away."""
        project = self.project
        shown = {name: value for name, value in project.state.items() if name not in ("format", "undo")}
        words = ["dubio", *project.words("rank")] if project.state["table"] else []
        shown |= {"can_undo": bool(project.state["undo"]), "folder": str(project.folder.resolve())}
        shown |= {"command": shlex.join(words), "decided": project.decided, "take": self._to_take()}
        return JSONResponse(shown)

    def _to_take(self) -> list[str]:
        folder = self.project.folder
        found = [name for name, (file, _) in _TAKE.items() if (folder / file).is_file()]
        found = [name for name in found if name != "corrections"]
        found += ["corrections"] if self.project.state["labels"] else []
        return [*found, *(["paper"] if (folder / "paper" / "run.toml").is_file() else [])]

    # Work

    def _begin(self, job: str, key: str, words: list[str], seconds: float = OTHER, **more: Any) -> Work:
        """Begin a piece of work, unless the same one is running or done."""
        with self._starting:
            earlier = self._works.get(job)
            if earlier is not None:
                if key and earlier[0] == key and earlier[1].status in ("running", "done"):
                    return earlier[1]
                earlier[1].stop()
            work = self.workshop().begin(job, words, seconds, **more)
            self._works[job] = key, work
            return work

    async def _start(self, request: Request) -> Response:
        job = request.path_params["job"]
        if job not in ("look", "ask", "answer"):
            raise HTTPException(404, "There is no such work.")
        if not self.project.state["table"]:
            raise HTTPException(400, "Choose a table first.")
        return JSONResponse((await run_in_threadpool(self._started, job)).record())

    def _started(self, job: str) -> Work:
        project = self.project
        if job == "look":
            words = project.words("look")
            return self._begin(job, hashlib.sha256(repr(words).encode()).hexdigest(), words)
        if job == "ask":
            return self._begin(job, project.decided, project.words("rank"))
        words = [*project.words("rank"), *_REPORT]
        return self._begin(job, "", words, RANKING, decided=project.decided)

    async def _progress(self, request: Request) -> Response:
        """How far the work is, with those of its parts that are asked for."""
        job = request.path_params["job"]
        if job not in self._works:
            return JSONResponse({"status": "none", "parts": [], "problems": [], "said": []})
        work = self._works[job][1]
        wanted = request.query_params.get("parts", "").split(",")
        record = work.record()
        return JSONResponse({**record, "content": {name: work.parts[name] for name in wanted if name in work.parts}})

    async def _stop(self, request: Request) -> Response:
        if "answer" in self._works:
            await run_in_threadpool(self._works["answer"][1].stop)
        return JSONResponse({"stopped": True})

    async def _answer(self, request: Request) -> Response:
        """The answer: of the work that runs, or the one that was written last."""
        return JSONResponse(await run_in_threadpool(self._found))

    def _found(self) -> dict[str, Any]:
        running, place = self._works.get("answer"), self.project.folder / "answer.json"
        parts = running[1].parts if running is not None else {}
        if found := parts.get("answer", parts.get("early")):
            return dict(found)
        if not place.is_file():
            raise HTTPException(404, "There is no answer yet.")
        key = (place.stat().st_mtime_ns, place.stat().st_size)
        if self._written is None or self._written[0] != key:
            self._written = key, json.loads(place.read_text(encoding="utf-8"))
        return self._written[1]

    async def _feature(self, request: Request) -> Response:
        """A feature in sentences, its picture, and which are like it."""
        name = str((await self._json(request)).get("feature", ""))
        answer = await run_in_threadpool(self._found)
        running = self._works.get("answer")
        shown: Any = None if running is None else await run_in_threadpool(running[1].ask, {"feature": name})
        shown = shown or await run_in_threadpool(self._pictured, answer, name)
        return JSONResponse({"sentences": about_feature(answer, name), **shown})

    def _pictured(self, answer: dict[str, Any], name: str) -> dict[str, Any]:
        """What was drawn of a feature before the process of the answer has gone: of the best ones."""
        place = self.project.folder / "pictures.json"
        drawn = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
        return dict(drawn["features"].get(name, {})) if drawn.get("decided") == answer["decided"] else {}

    async def _line(self, request: Request) -> Response:
        """What it costs to keep so many columns."""
        keep = (await self._json(request)).get("keep")
        if type(keep) is not int:
            raise HTTPException(400, "The request names no line.")
        return JSONResponse(about_line(await run_in_threadpool(self._found), keep))

    async def _report(self, request: Request) -> Response:
        """The report; its own policy allows its own script only, and no requests."""
        place = self.project.folder / "report.html"
        if not place.is_file():
            raise HTTPException(404, "There is no answer yet.")
        headers = {"Content-Security-Policy": _REPORT_POLICY}
        return Response(place.read_bytes(), media_type="text/html", headers=headers)

    async def _take(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "paper":
            return _saved(self._paper(), "paper.zip", "application/zip")
        if name not in self._to_take():
            raise HTTPException(404, "There is no such file yet.")
        file, kind = _TAKE[name]
        return _saved((self.project.folder / file).read_bytes(), file, kind)

    def _paper(self) -> bytes:
        """The paper kit as one archive."""
        folder = self.project.folder / "paper"
        if not (folder / "run.toml").is_file():
            raise HTTPException(404, "There is no paper kit yet.")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file() and not file.is_symlink():
                    archive.write(file, file.relative_to(folder).as_posix())
        return buffer.getvalue()

    # Decisions

    async def _decide(self, request: Request) -> Response:
        wish = await self._json(request)
        words = {name: wish[name] for name in ("title", "kind") if isinstance(wish.get(name), str)}
        await run_in_threadpool(lambda: self.project.decide(_version(wish), _mapping(wish, "options"), **words))
        return await self._state(request)

    async def _label(self, request: Request) -> Response:
        wish = await self._json(request)
        await run_in_threadpool(self.project.label, _version(wish), _mapping(wish, "rows"))
        return await self._state(request)

    async def _check(self, request: Request) -> Response:
        wish = await self._json(request)
        await run_in_threadpool(self.project.check, _version(wish), _mapping(wish, "rows"))
        return await self._state(request)

    async def _undo(self, request: Request) -> Response:
        await run_in_threadpool(self.project.undo, _version(await self._json(request)))
        return await self._state(request)

    async def _draw(self, request: Request) -> Response:
        """Draw rows to be checked."""
        wish = await self._json(request)
        rows, by = wish.get("rows"), wish.get("by", "random")
        if by not in ("random", "class", "doubtful") or not (rows is None or (type(rows) is int and rows > 0)):
            raise InputError("rows", "is no number of rows")
        await run_in_threadpool(self._drawn, _version(wish), rows, by)
        return await self._state(request)

    def _drawn(self, version: int, rows: int | None, by: str) -> None:
        words = [*self.project.words("check"), "--draw=draw.csv", f"--by={by}", *([f"--rows={rows}"] if rows else [])]
        parts = self._finished(self._begin("draw", "", words))
        self.project.take_draw(version, parts["file"], parts)

    def _finished(self, work: Work) -> dict[str, Any]:
        """The parts of a piece of work, which is waited for."""
        assert self._workshop is not None
        self._workshop.finish(work)
        if work.status != "done":
            text = " ".join(problem["text"] for problem in work.problems) or "The work was stopped."
            raise HTTPException(400, text)
        return work.parts

    async def _cards(self, request: Request) -> Response:
        """The rows that were drawn, without their labels."""
        return JSONResponse(await run_in_threadpool(self.project.drawn))

    # Files

    async def _table(self, request: Request) -> Response:
        name = unquote(request.headers.get("x-file-name", ""))
        path = await self._received(request, MOST_TABLE)
        try:
            await run_in_threadpool(self.project.take_table, path, name)
        finally:
            path.unlink(missing_ok=True)
        return await self._state(request)

    async def _example(self, request: Request) -> Response:
        await run_in_threadpool(self._take_example)
        return await self._state(request)

    def _take_example(self) -> None:
        from dubio_app.demo import doubtful_wine

        table, _, _, guesses = doubtful_wine()
        path = self.project.folder / ".upload.example.csv"
        table.assign(grape=guesses).to_csv(path, index=False)
        self.project.take_table(path, "example wines.csv")

    async def _pairs(self, request: Request) -> Response:
        content = await self._content(request)
        await run_in_threadpool(self.project.take_file, "pairs", content)
        return await self._state(request)

    async def _corrections(self, request: Request) -> Response:
        """Decisions about labels from a file, such as that of a report somebody else has worked on."""
        content = await self._content(request)
        await run_in_threadpool(self.project.take_corrections, content)
        return await self._state(request)

    async def _checked(self, request: Request) -> Response:
        """Rows that others have checked."""
        content = await self._content(request)
        await run_in_threadpool(self.project.take_file, "checked", content)
        return await self._state(request)

    async def _next(self, request: Request) -> Response:
        """The kept columns of another table, such as that of next month."""
        name = unquote(request.headers.get("x-file-name", "")).casefold()
        endings = [ending for ending in FORMATS if name.endswith(ending)]
        if not endings or not (self.project.folder / "selection.json").is_file():
            raise HTTPException(400, "This file cannot be read." if not endings else "There is no answer yet.")
        path = await self._received(request, MOST_TABLE)
        table = path.rename(path.with_name(f"table-next{max(endings, key=len)}"))
        try:
            return JSONResponse(await run_in_threadpool(self._applied, table.name))
        finally:
            table.unlink(missing_ok=True)

    def _applied(self, table: str) -> dict[str, Any]:
        words = ["apply", "selection.json", table, "--save=next.csv"]
        return {"said": self._finished(self._begin("apply", "", words))["applied"]}

    async def _delete(self, request: Request) -> Response:
        await run_in_threadpool(self.end)
        left = await run_in_threadpool(self.project.delete)
        self.is_over = True
        return JSONResponse({"deleted": True, "left": left})

    # What a request holds

    async def _received(self, request: Request, most: int) -> Path:
        """The body of a request as a file in the project; it is never held in memory."""
        too_large = HTTPException(413, f"The file has more than {most >> 20:,} MB: dubio rank reads it without a page.")
        if int(request.headers.get("content-length", "0") or 0) > most:
            raise too_large
        with tempfile.NamedTemporaryFile(dir=self.project.folder, prefix=".upload.", delete=False) as file:
            path, size = Path(file.name), 0
            try:
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > most:
                        raise too_large
                    file.write(chunk)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        return path

    async def _content(self, request: Request) -> bytes:
        path = await self._received(request, MOST_FILE)
        content = path.read_bytes()
        path.unlink()
        return content

    async def _json(self, request: Request) -> dict[str, Any]:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_REQUEST:
                raise HTTPException(413, "The request is too large.")
        try:
            wish = json.loads(body)
        except (ValueError, RecursionError):
            wish = None
        if not isinstance(wish, dict):
            raise HTTPException(400, "The request is no JSON object.")
        return wish


def _version(wish: dict[str, Any]) -> int:
    version = wish.get("version", -1)
    return version if isinstance(version, int) else -1


def _mapping(wish: dict[str, Any], name: str) -> dict[str, Any]:
    found = wish.get(name, {})
    if not isinstance(found, dict):
        raise HTTPException(400, "The request is no decision.")
    return found


def _saved(content: bytes, name: str, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _same(given: str, key: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), key.encode())


def _read(name: str, room: str = "page/static") -> str:
    """A file of the page. The room is not imported: that of the report would load the library, and the page wait."""
    return resources.files("dubio_app").joinpath(room, name).read_text(encoding="utf-8")
