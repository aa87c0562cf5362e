"""The services of a Weighbridge node and the weighbridge command."""
