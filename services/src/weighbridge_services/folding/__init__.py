"""What the fold service, the cross-check and the commands share: a fold's ledger, rule sets, statements."""
