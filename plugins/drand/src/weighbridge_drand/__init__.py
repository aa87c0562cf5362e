"""Three sources of beacons: drand's HTTP relays, a recorded file, and a local chain (with its HTTP
server)."""

from weighbridge_drand.local import LocalBeacons, open_local
from weighbridge_drand.recorded import RecordedBeacons, open_recorded
from weighbridge_drand.relays import RelayBeacons, open_relays
from weighbridge_drand.serving import ChainApp, reply

__all__ = [
    "ChainApp",
    "LocalBeacons",
    "RecordedBeacons",
    "RelayBeacons",
    "open_local",
    "open_recorded",
    "open_relays",
    "reply",
]
