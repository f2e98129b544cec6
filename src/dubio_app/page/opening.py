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

#: Seconds between two looks whether anybody still uses the page; most connections that wait.
_PULSE, _BACKLOG = 2.0, 128
#: Seconds after which a connection that says nothing is closed; most connections at once.
_SILENT, _MOST = 10, 200


def open_page(call: Call) -> None:
    """Open a project, or make one with a copy of a table, and serve its page until Ctrl-C."""
    try:
        import uvicorn

        from dubio_app.page.server import IDLE, Page
    except ImportError as error:
        raise UserError("the page needs more packages: pip install 'dubio[app]'.") from error
    project = _project(call)
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    page = Page(project, listener.getsockname()[1])
    limits: dict[str, Any] = {"timeout_keep_alive": _SILENT, "limit_concurrency": _MOST}
    quiet: dict[str, Any] = {"log_level": "critical", "access_log": False, "server_header": False, "date_header": False}
    server = uvicorn.Server(uvicorn.Config(page.app(), lifespan="off", **limits, **quiet))

    async def serve() -> None:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        while not running.done():
            await asyncio.sleep(_PULSE)
            server.should_exit = server.should_exit or time.monotonic() - page.last_request > IDLE
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


def _project(call: Call) -> Project:
    """The project of a call: an existing one, or a new one beside the table."""
    if call.project:
        folder = Path(call.project)
    elif call.table:
        folder = Path(f"{Path(call.table).stem}-dubio")
    else:
        folder = Path("dubio-project")
    project = Project(folder)
    if call.table and not (project.folder / STATE).is_file():
        source = Path(call.table)
        if not source.is_file():
            raise UserError(f"there is no file {quoted(call.table)}.")
        copy = project.folder / f".copy{source.suffix}"
        shutil.copyfile(source, copy)
        project.take_table(copy, source.name)
    return project
