import functools
import http.server
import threading
import urllib.request

quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *a: None})
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory="static"))
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d/" % server.server_address[1]
print("serving", url)
for name in ("index.html", "about.html"):
    with urllib.request.urlopen(url + name) as answer:
        print(name, answer.status, answer.headers["Content-Type"], len(answer.read()))
try:
    urllib.request.urlopen(url + "absent.html")
except urllib.error.HTTPError as e:
    print("absent.html", e.code)
server.shutdown()
