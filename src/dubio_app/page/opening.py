"""``dubio open``: start the server of a project, and the browser."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import time
import webbrowser
from pathlib import Path
from typing import Any

from dubio.errors import quoted
from dubio_app.command.options import Call, UserError
from dubio_app.command.output import print_text
from dubio_app.page.project import STATE, Project

#: Seconds between two looks whether anybody still uses the page; connections that wait to be accepted.
_PULSE, _BACKLOG = 2.0, 128
#: Seconds after which a connection that says nothing is closed; most of them at once, of which the oldest is closed.
_SILENT, _MOST_SILENT = 10, 64
#: Nothing about requests is written anywhere: addresses and data stay with the user.
_QUIET: dict[str, Any] = {"log_level": "critical", "access_log": False, "server_header": False, "date_header": False}
_QUIET |= {"lifespan": "off", "ws": "none", "timeout_keep_alive": _SILENT, "proxy_headers": False}


def open_page(call: Call) -> None:
    """Open a project, or make one with a copy of a table, and serve its page until Ctrl-C."""
    try:
        import uvicorn

        from dubio_app.page.server import IDLE, Page
    except ImportError as error:
        raise UserError("the page needs more packages: pip install 'dubio[app]'.") from error
    project = _project(call)
    project.hold()
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    page = Page(project, listener.getsockname()[1])
    page.workshop()  # which loads the library while a person looks for their file
    server = uvicorn.Server(uvicorn.Config(page.app(), http=_impatient(), **_QUIET))

    async def serve() -> None:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        before = time.monotonic()
        while not running.done():
            await asyncio.sleep(_PULSE)
            now = time.monotonic()
            if now - before > 10 * _PULSE:  # the computer has slept
                page.last_request = now
            before = now
            server.should_exit = server.should_exit or page.is_over or now - page.last_request > IDLE
        await running

    print_text(f"The page: {page.address}\nThe project: {project.folder.resolve()}\nCtrl-C ends it.\n")
    if not call.no_browser:
        webbrowser.open(page.address)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve())
    finally:
        page.end()
        listener.close()
        project.release()


def _impatient() -> Any:
    """The protocol of the server: a connection that does not ask for anything is closed, so that others get through."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    waiting: dict[Any, None] = {}  # in the order in which they came

    class Impatient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            waiting[self] = None
            self.loop.call_later(_SILENT, self.close_if_silent)
            if len(waiting) > _MOST_SILENT:
                next(iter(waiting)).close_if_silent()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None:
                waiting.pop(self, None)

        def connection_lost(self, exc: Exception | None) -> None:
            waiting.pop(self, None)
            super().connection_lost(exc)

        def close_if_silent(self) -> None:
            if waiting.pop(self, self) is None:
                self.transport.close()

    return Impatient


def _project(call: Call) -> Project:
    """The project of a call: an existing one, or a new one beside the table."""
    if call.project:
        folder = Path(call.project)
    elif call.table:
        folder = Path(f"{Path(call.table).stem}-dubio")
    else:
        folder = Path("dubio-project")
    source = Path(call.table) if call.table else None
    if source is not None and not source.is_file() and not (folder / STATE).is_file():
        raise UserError(f"there is no file {quoted(call.table)}.")
    project = Project(folder)
    if source is not None and not project.state["table"]:
        copy = project.folder / f".copy{source.suffix}"
        shutil.copyfile(source, copy)
        project.take_table(copy, source.name)
    return project
