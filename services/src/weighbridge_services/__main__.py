"""The command `weighbridge`, also as `python -m weighbridge_services`: its first word, before anything is imported."""

import sys


def main() -> int:
    """Run the command; return its exit code. Ctrl-C while the rest is still being imported is one line, too."""
    try:
        from weighbridge_services.cli import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        print("weighbridge: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
