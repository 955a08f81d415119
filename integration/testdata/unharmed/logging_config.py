import logging
import logging.config
import logging.handlers
import queue
import sys


class Short(logging.Filter):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def filter(self, record):
        return len(record.getMessage()) < self.limit


def main():
    logging.config.dictConfig({
        "version": 1,
        "formatters": {"f": {"format": "%(levelname)s %(name)s %(module)s.%(funcName)s:%(lineno)d %(message)s"}},
        "filters": {"short": {"()": "__main__.Short", "limit": 20}},
        "handlers": {"out": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout", "formatter": "f", "filters": ["short"]},
                     "file": {"class": "logging.handlers.RotatingFileHandler", "filename": "app.log", "maxBytes": 200, "backupCount": 1, "formatter": "f"}},
        "root": {"level": "DEBUG", "handlers": ["out", "file"]},
    })
    log = logging.getLogger("a.b")
    log.info("hello %s", "you")
    log.debug("x" * 99)
    log.warning("stack", stack_info=True)
    try:
        1 / 0
    except ZeroDivisionError:
        log.exception("failed")
    q = queue.SimpleQueue()
    listener = logging.handlers.QueueListener(q, logging.StreamHandler(sys.stdout))
    listener.start()
    log.addHandler(logging.handlers.QueueHandler(q))
    log.error("queued")
    listener.stop()
    logging.shutdown()
    print(open("app.log").read())


main()
