"""The audit host: third parties' audits, each in a process of its own that has no keys and no broker."""
