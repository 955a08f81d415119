"""Asks the server, as soon as it is there."""
import time
import urllib.error
import urllib.request

for path in ("/", "/static/rates.css", "/none"):
    for _ in range(300):
        try:
            with urllib.request.urlopen("http://127.0.0.1:18431" + path, timeout=20) as answer:
                print(path, answer.status, answer.read().decode())
            break
        except urllib.error.HTTPError as e:
            print(path, e.code)
            break
        except OSError:
            time.sleep(0.1)
    else:
        print(path, "no answer")
