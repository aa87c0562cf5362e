"""The kernel of Weighbridge: one log, one transcript, for everyone."""
