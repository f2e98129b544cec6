"""The server of ``dubio open``: one project, one user, the loopback address only.

Who may talk to it: the first address holds a random key, which becomes a cookie that scripts cannot read. Requests for
another host (DNS rebinding), from another origin (another page) or without the cookie (another user of the machine) are
refused. No path comes from a request: files are named by fixed words.
"""

from __future__ import annotations

import hmac
import io
import json
import secrets
import shlex
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
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
from dubio_app.page.project import MORE_FILES, Conflict, Project
from dubio_app.page.work import Work

#: Most bytes of a table, and of any other request.
MOST_TABLE, MOST_REQUEST = 4 * 2**30, 32 * 2**20
#: The page ends after this many seconds without a request.
IDLE = 3600.0
_COOKIE = "dubio_key"
_STATIC = {"open.css": "text/css", "open.js": "text/javascript", "open.html": "text/html"}
#: What can be taken away: its file in the project, its type, and its name for the user.
_TAKE = {
    "kept": ("kept.csv", "text/csv"),
    "report": ("report.html", "text/html"),
    "selection": ("selection.json", "application/json"),
    "features": ("features.json", "application/json"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
#: What Chromium and others must not do with any answer.
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Handler = Callable[[Request], Awaitable[Response]]


class Page:
    """The page of a project: what the user decided, the work that runs, and the answers."""

    def __init__(self, project: Project, port: int) -> None:
        self.project, self.key = project, secrets.token_urlsafe(32)
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.address = f"http://127.0.0.1:{port}/?key={self.key}"
        self.last_request = time.monotonic()
        self._look: tuple[int, dict[str, Any]] | None = None
        self._work: Work | None = None
        self._work_version = -1

    def app(self) -> Starlette:
        """The application."""
        routes = {
            "/": self._home,
            "/static/{name}": self._static,
            "/api/state": self._state,
            "/api/look": self._looked,
            "/api/work": self._progress,
            "/answer/report": self._report,
            "/take/{name}": self._take,
        }
        changes = {
            "/api/table": self._table,
            "/api/example": self._example,
            "/api/decide": self._decide,
            "/api/undo": self._undo,
            "/api/run": self._run,
            "/api/stop": self._stop,
            "/api/file/{kind}": self._file,
            "/api/delete": self._delete,
        }
        made = [Route(path, self._guarded(one), methods=["GET"]) for path, one in routes.items()]
        made += [Route(path, self._guarded(one), methods=["POST"]) for path, one in changes.items()]
        return Starlette(routes=made)

    def end(self) -> None:
        """Stop the work that runs."""
        if self._work is not None and self._work.status == "running":
            self._work.stop()

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
                    response = JSONResponse({"error": "Another window has changed this project."}, 409)
                except InputError as error:
                    response = JSONResponse({"error": str(error)}, 400)
                except HTTPException as error:
                    response = JSONResponse({"error": error.detail}, error.status_code)
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

    # What the page asks

    async def _home(self, request: Request) -> Response:
        if "key" in request.query_params:
            response = RedirectResponse("/", 303)
            response.set_cookie(_COOKIE, self.key, httponly=True, samesite="strict", path="/")
            return response
        return Response(_read("open.html"), media_type="text/html")

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404, "There is no such file.")
        return Response(_read(name), media_type=_STATIC[name])

    async def _state(self, request: Request) -> Response:
        state = self.project.state
        words = self.project.words("rank") if state["table"] else []
        shown = {name: state[name] for name in ("version", "name", "table", "options", "files")}
        shown |= {"can_undo": bool(state["undo"]), "folder": str(self.project.folder.resolve())}
        shown |= {"command": shlex.join(["dubio", *words]) if words else "", "answered": self._is_answered()}
        return JSONResponse(shown)

    async def _looked(self, request: Request) -> Response:
        """How each column is read, what is wrong with it, and the first rows."""
        return JSONResponse(await run_in_threadpool(self._look_at_table))

    def _look_at_table(self) -> dict[str, Any]:
        state = self.project.state
        if not state["table"]:
            return {"columns": [], "error": ""}
        if self._look is None or self._look[0] != state["version"]:
            work = Work([*self.project.words("look"), "--json", "--quiet"], self.project.folder)
            work.join(600)
            found = json.loads(work.printed) if work.status == "done" else {"columns": []}
            self._look = state["version"], {**found, "error": "" if work.status == "done" else " ".join(work.said)}
        return self._look[1]

    async def _progress(self, request: Request) -> Response:
        """The work that runs, or ran."""
        record = {"status": "none"} if self._work is None else self._work.record()
        if record["status"] == "done":
            record["current"] = self._work_version == self.project.state["version"]
        return JSONResponse(record)

    async def _report(self, request: Request) -> Response:
        """The report; its own policy allows its own script only, and no requests."""
        place = self.project.folder / "report.html"
        if not place.is_file():
            raise HTTPException(404, "There is no answer yet.")
        return Response(
            place.read_bytes(), media_type="text/html", headers={"Content-Security-Policy": "frame-ancestors 'self'"}
        )

    async def _take(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "paper":
            return self._saved(self._paper(), "paper.zip", "application/zip")
        if name not in _TAKE or not (self.project.folder / _TAKE[name][0]).is_file():
            raise HTTPException(404, "There is no such file yet.")
        file, kind = _TAKE[name]
        return self._saved((self.project.folder / file).read_bytes(), file, kind)

    @staticmethod
    def _saved(content: bytes, name: str, kind: str) -> Response:
        return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    def _paper(self) -> bytes:
        """The paper kit as one archive."""
        folder = self.project.folder / "paper"
        if not (folder / "run.toml").is_file():
            raise HTTPException(404, "There is no paper kit yet.")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(folder).as_posix())
        return buffer.getvalue()

    # What the user does

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
        path = self.project.folder / ".example.csv"
        table.assign(grape=guesses).to_csv(path, index=False)
        self.project.take_table(path, "example: wines with doubtful labels.csv")

    async def _decide(self, request: Request) -> Response:
        wish = await self._json(request)
        self.project.decide(int(wish.get("version", -1)), dict(wish.get("options", {})))
        return await self._state(request)

    async def _undo(self, request: Request) -> Response:
        self.project.undo(int((await self._json(request)).get("version", -1)))
        return await self._state(request)

    async def _file(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in MORE_FILES:
            raise HTTPException(404, "There is no such kind of file.")
        path = await self._received(request, MOST_REQUEST)
        content = path.read_bytes()
        path.unlink()
        await run_in_threadpool(self.project.take_file, kind, content)
        return await self._state(request)

    async def _run(self, request: Request) -> Response:
        """Rank: the report, the kept columns, the selection and the paper kit are written into the project."""
        if not self.project.state["table"]:
            raise HTTPException(400, "Choose a table first.")
        self.end()
        self._work_version = self.project.state["version"]
        out = ["--report=report.html", "--save-table=kept.csv", "--save-selection=selection.json", "--paper=paper"]
        self._work = Work([*self.project.words("rank"), *out, "--json"], self.project.folder)
        return JSONResponse(self._work.record())

    async def _stop(self, request: Request) -> Response:
        await run_in_threadpool(self.end)
        return await self._progress(request)

    async def _delete(self, request: Request) -> Response:
        await run_in_threadpool(self.end)
        await run_in_threadpool(self.project.delete)
        return JSONResponse({"deleted": True})

    def _is_answered(self) -> bool:
        return (self.project.folder / "report.html").is_file()

    # What a request holds

    async def _received(self, request: Request, most: int) -> Path:
        """The body of a request as a file in the project; it is never held in memory."""
        with tempfile.NamedTemporaryFile(dir=self.project.folder, prefix=".upload.", delete=False) as file:
            path, size = Path(file.name), 0
            try:
                async for chunk in _chunks(request):
                    size += len(chunk)
                    if size > most:
                        raise HTTPException(413, f"The file has more than {most >> 20:,} MB.")
                    file.write(chunk)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        return path

    async def _json(self, request: Request) -> dict[str, Any]:
        body = b""
        async for chunk in _chunks(request):
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


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    async for chunk in request.stream():
        yield chunk


def _same(given: str, key: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), key.encode())


def _read(name: str) -> str:
    return resources.files("dubio_app.page.static").joinpath(name).read_text(encoding="utf-8")
