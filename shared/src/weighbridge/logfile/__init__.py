"""A game's log as one file, both ways and as a stream: CAR for verification, JSONL for people.

Pure: bytes in, bytes out; whoever calls opens the files. What is read is verified: every hash, and every
entry as the next in its log. What the last entry is says a CAR's root; that the log is the one a lister
signed, a checkpoint.
"""

from __future__ import annotations

from weighbridge.logfile.car import Block, CarReader, write_car
from weighbridge.logfile.carlog import log_from_car, log_to_car
from weighbridge.logfile.errors import LogFileRefused
from weighbridge.logfile.jsonl import log_from_jsonl, log_to_jsonl

__all__ = [
    "Block",
    "CarReader",
    "LogFileRefused",
    "log_from_car",
    "log_from_jsonl",
    "log_to_car",
    "log_to_jsonl",
    "write_car",
]
