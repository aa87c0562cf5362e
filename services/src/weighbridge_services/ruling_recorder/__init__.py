"""The ruling recorder, the GM's desk: it keeps the queue, looks at rulings early, hands them on; it decides nothing."""
