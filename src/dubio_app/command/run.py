"""Run the command. Every error gives one clear line and a non-zero exit code, and leaves no half-written file."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dubio_app.command.options import UserError
from dubio_app.command.wording import BAD_INPUT, FAULT, INTERRUPTED, lines_of, one_line
from dubio_app.whole_files import remove_unfinished

#: Commands with nothing to clean up when they are interrupted.
_SUDDEN = ("rank", "audit", "look", "methods", "demo")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run ``dubio`` with these arguments (by default those of the process) and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # closed by the caller: there is nobody to tell anything
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    out: Any = sys.stdout
    if isinstance(out, io.TextIOWrapper) and not out.closed:
        out.reconfigure(errors="backslashreplace")  # a terminal may know few letters
    if "--debug" in words:
        return call_command(words)
    try:
        with _leave_on_interrupt() if words[:1] and words[0] in _SUDDEN else contextlib.nullcontext():
            return call_command(words)
    except KeyboardInterrupt:
        _say("interrupted.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe (head, less) stopped reading
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAULT
    except (UserError, ValueError, OSError) as error:
        _say(*([str(error)] if isinstance(error, UserError) else lines_of(error, words)))
        return BAD_INPUT
    except ImportError as error:
        if type(error) is not ImportError:  # not one of ours, which name the package that is missing
            raise
        _say(one_line(error, words))
        return BAD_INPUT
    except MemoryError:
        _say("not enough memory for this table and method.")
        return BAD_INPUT
    except Exception as error:
        _say(f"{type(error).__name__}: {one_line(error)} (internal error, please report it; --debug shows where)")
        return FAULT
    finally:
        remove_unfinished()


def call_command(words: list[str], instead: Callable[[Any], None] | None = None) -> int:
    """Call the command with these words; ``instead`` gets the call in place of the command's own work."""
    import typer
    import typer.main

    from dubio_app.command.app import make_app

    command = typer.main.get_command(make_app(instead))
    asked: Any = command
    for word in words:
        asked = getattr(asked, "commands", {}).get(word)
    # words that end at a command that only holds others, such as "dubio papers": versions of Typer differ in what they
    # do then; and the shell may ask what can follow
    if hasattr(asked, "commands") and "_DUBIO_COMPLETE" not in os.environ:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            command.main(args=[*words, "--help"], prog_name="dubio", standalone_mode=False)
        sys.stderr.write(f"{shown.getvalue().rstrip()}\n")
        return BAD_INPUT
    try:
        result = command.main(args=words, prog_name="dubio", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except typer.Exit as stop:
        return int(stop.exit_code)
    except typer.Abort as stop:
        raise KeyboardInterrupt from stop
    except Exception as error:
        message = getattr(error, "format_message", None)  # usage errors of click, or of typer's own copy of click
        if message is None:
            raise
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        said = " ".join(message().split()).rstrip(".")  # choices stand on lines of their own
        flag = getattr(error, "option_name", "") if type(error).__name__ == "NoSuchOption" else ""
        if context is not None and flag and (others := _commands_with(flag)):
            raise UserError(f"{flag} is an option of {others}, not of {context.command_path}{hint}.") from error
        raise UserError(f"{said}{hint}") from error
    return int(result) if isinstance(result, int) else 0


def _commands_with(flag: str) -> str:
    """The commands that have an option, in words."""
    from dubio_app.command.options import OPTIONS

    found = dict.fromkeys(name for one in OPTIONS if flag in one.flags for name in one.commands.split())
    return " and ".join(f"dubio {name}" for name in found if name != "dubio")


@contextlib.contextmanager
def _leave_on_interrupt() -> Iterator[None]:
    """Ctrl-C ends the process at once, even inside compiled code that Python cannot interrupt.

    The C signal handler writes the signal to a socket, and a thread waits at the other end of it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    here, there = socket.socketpair()
    there.setblocking(False)

    def wait() -> None:
        with contextlib.suppress(OSError):
            while received := here.recv(1):
                if received[0] == signal.SIGINT:
                    remove_unfinished()
                    _say("interrupted.")
                    os._exit(INTERRUPTED)

    handler = signal.signal(signal.SIGINT, lambda *_: None)  # the thread does the work
    before = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=wait, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGINT, handler)
        there.close()


def _say(*messages: str) -> None:
    """Print a line, or a list of problems, on standard error, with control characters written out."""
    clean = ["".join(c if c.isprintable() else repr(c)[1:-1] for c in message) for message in messages]
    text = clean[0] if len(clean) == 1 else "\n  - ".join([f"{len(clean)} problems were found:", *clean])
    show_cursor = "\x1b[?25h\r\x1b[K" if sys.stderr.isatty() else ""  # a progress bar may have hidden it
    sys.stderr.write(f"{show_cursor}dubio: {text}\n")
    sys.stderr.flush()
