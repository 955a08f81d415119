"""A site of the standard library. argv: the address and port to listen at."""
import http.server
import socket
import sys


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        text = b"page %s\n" % self.path[1:].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
    request_queue_size = 100


Server((sys.argv[1], int(sys.argv[2])), Pages).serve_forever()
