"""The credit that the licence of the game's source asks for."""

from __future__ import annotations

CREDIT = (
    "This work is based on Blades in the Dark (found at http://www.bladesinthedark.com/), product of One Seven "
    "Design, developed and authored by John Harper, and licensed for our use under the Creative Commons "
    "Attribution 3.0 Unported license (http://creativecommons.org/licenses/by/3.0/). Gangs of Delvetown isn't "
    "endorsed by One Seven Design."
)
"""What the README and `weighbridge delvetown about` say."""
