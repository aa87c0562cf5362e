"""What can be wrong with a log in a file. `detail` says where: `offset` in bytes, or `line` from 1."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused


class LogFileRefused(Refused):
    """What every refusal of a file is."""

    code: ClassVar[str] = "logfile"


class CarTruncated(LogFileRefused):
    """The file ends in the middle of something."""

    code: ClassVar[str] = "car-truncated"


class CarVarint(LogFileRefused):
    """A length that is longer than nine bytes, or not in its shortest form."""

    code: ClassVar[str] = "car-varint"


class CarHeader(LogFileRefused):
    """The header is not `{roots, version: 1}` in strict DAG-CBOR, or its roots are not what they must be."""

    code: ClassVar[str] = "car-header"


class CarBlockSize(LogFileRefused):
    """A block longer than `limits.MAX_CAR_BLOCK`, or too short to have a CID."""

    code: ClassVar[str] = "car-block-size"


class CarBlockCid(LogFileRefused):
    """What stands where a block's CID must stand is none."""

    code: ClassVar[str] = "car-block-cid"


class CarBlockHash(LogFileRefused):
    """A block whose bytes are not those of its CID."""

    code: ClassVar[str] = "car-block-hash"


class CarOrder(LogFileRefused):
    """A block that is not the one due: an entry without its record after it, or a record before its entry."""

    code: ClassVar[str] = "car-order"


class CarEnd(LogFileRefused):
    """The last entry is not the one that the header names: entries are missing at the end, or too many."""

    code: ClassVar[str] = "car-end"


class LineTooLong(LogFileRefused):
    """A line longer than `limits.MAX_LOG_LINE`."""

    code: ClassVar[str] = "jsonl-line-too-long"


class LineNotJson(LogFileRefused):
    """A line that is not JSON in UTF-8, or an object in it that has a key twice."""

    code: ClassVar[str] = "jsonl-not-json"


class LineForm(LogFileRefused):
    """A line that is not `{cid, entry, record}`, or that holds values that cannot be."""

    code: ClassVar[str] = "jsonl-form"


class LineCid(LogFileRefused):
    """The entry on a line is not the one whose CID stands before it."""

    code: ClassVar[str] = "jsonl-cid"


class LineEnd(LogFileRefused):
    """The last line has no line feed at its end: the file was cut off."""

    code: ClassVar[str] = "jsonl-truncated"
