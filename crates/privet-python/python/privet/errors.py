"""What can go wrong, by who has to act."""


class PrivetError(Exception):
    """The base of all errors of Privet."""


class DeclarationError(PrivetError, ValueError):
    """Something public about the table is missing or wrong. No row was looked at."""


class ParameterError(PrivetError, ValueError):
    """A parameter has an invalid value."""


class BudgetError(PrivetError):
    """The budget does not allow it. Nothing was charged, and no row was looked at.

    ``needed`` and ``left`` are ε, if they are known.

    >>> import pickle
    >>> refused = pickle.loads(pickle.dumps(BudgetError("too much", 0.9, 0.4)))
    >>> str(refused), refused.needed, refused.left
    ('too much', 0.9, 0.4)
    """

    def __init__(self, message, needed=None, left=None):
        super().__init__(message, needed, left)
        self.needed, self.left = needed, left

    def __str__(self):
        return self.args[0]


class LedgerError(PrivetError):
    """The ledger does not verify, or cannot be used. Nothing was drawn."""


class PeerError(PrivetError):
    """Other parties did not follow the protocol, or are not there. ``parties`` names them."""

    def __init__(self, message, parties=()):
        super().__init__(message, tuple(parties))
        self.parties = tuple(parties)

    def __str__(self):
        return self.args[0]
