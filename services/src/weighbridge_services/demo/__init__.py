"""The demo: a recorded season on five real nodes, one of which is wrong, and the board it ends with."""
