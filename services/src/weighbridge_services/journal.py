"""The log of a node's own doings: for people at a terminal, or one JSON object per line."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Generator
from typing import Any

import structlog

from weighbridge_services.config import LogTable

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def set_up(table: LogTable) -> None:
    """Send what our code and the libraries say to standard error, in the form the configuration asks for."""
    level = LEVELS[table.level]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    renderer: list[Any]
    if table.format == "json":
        renderer = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # The formatter that comes by default shows what every variable holds, keys and passwords among them.
        plain = structlog.dev.plain_traceback
        renderer = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    structlog.configure(
        processors=[*shared, *renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(processors=[meta, *renderer], foreign_pre_chain=shared)
    )
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler], force=True)


@contextlib.contextmanager
def aside() -> Generator[None]:
    """Send what our code says meanwhile to standard error: standard output is a command's answer."""
    before = structlog.get_config()
    structlog.configure(
        logger_factory=structlog.PrintLoggerFactory(sys.stderr), cache_logger_on_first_use=False
    )
    try:
        yield
    finally:
        structlog.configure(**before)
