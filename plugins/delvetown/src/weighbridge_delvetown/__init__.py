"""Gangs of Delvetown, a rule set for Weighbridge."""
