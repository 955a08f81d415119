"""Fetches pages with the standard library. argv: a file of certificates, URLs."""
import ssl
import sys
import urllib.request

context = ssl.create_default_context(cafile=sys.argv[1])
for url in sys.argv[2:]:
    with urllib.request.urlopen(url, context=context if url.startswith("https") else None, timeout=20) as answer:
        print(answer.status, answer.read().decode())
