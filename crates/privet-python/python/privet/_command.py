"""The ``privet`` command."""

import sys

from . import _privet


def main():
    """Runs the command with the arguments of this process."""
    sys.exit(_privet.main(sys.argv))
