"""A site made with flask. argv: the address and port to listen at."""
import logging
import sys

import flask

logging.getLogger("werkzeug").setLevel(logging.ERROR)
app = flask.Flask("site")


@app.route("/<path:name>")
def page(name):
    return "page %s\n" % name


flask.cli.show_server_banner = lambda *a: None
app.run(sys.argv[1], int(sys.argv[2]), threaded=True)
