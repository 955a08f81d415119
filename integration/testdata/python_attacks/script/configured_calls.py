# The standard library builds what a text of configuration names.
#: dictionary ValueError call os.system
#: resolver RuleApiPermissionError call os.system
import logging.config
import pydoc
from tries import attempt, cat

attempt("dictionary", lambda: logging.config.dictConfig({"version": 1, "formatters": {"f": {"()": "os.system", "command": cat}}}))
attempt("resolver", lambda: pydoc.locate("os.system")(cat))
