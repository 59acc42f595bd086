"""`pullstate`, and `python -m pullstate`."""

import os
import sys


def main() -> int:
    """Run the command line; its exit status."""
    if sys.version_info < (3, 11):  # noqa: UP036  # pip checks this, a PYTHONPATH does not
        sys.stderr.write("pullstate needs Python 3.11 or newer; this is %s.\n" % sys.version)  # noqa: UP031
        return 2
    parent = os.getppid()  # before the imports take their time: a client may be killed meanwhile
    from pullstate.cli import pullstate

    return pullstate(parent)


if __name__ == "__main__":
    sys.exit(main())
