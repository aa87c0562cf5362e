"""Records from repositories of the AT Protocol, verified to the signature."""

from weighbridge_atproto import jetstream, network, sources, vouching
from weighbridge_atproto.jetstream import Jetstream
from weighbridge_atproto.network import Network
from weighbridge_atproto.sources import Firehose, Repository
from weighbridge_atproto.vouching import DidVoucher, NoRecords, WithVoucher

open_firehose = WithVoucher(sources.open_firehose)
open_jetstream = WithVoucher(jetstream.open_jetstream)
open_keys = WithVoucher(vouching.open_keys)
open_network = WithVoucher(network.open_network)
open_repository = WithVoucher(sources.open_repository)

__all__ = [
    "DidVoucher",
    "Firehose",
    "Jetstream",
    "Network",
    "NoRecords",
    "Repository",
    "open_firehose",
    "open_jetstream",
    "open_keys",
    "open_network",
    "open_repository",
]
