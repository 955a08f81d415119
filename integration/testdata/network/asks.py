"""Fetches pages with requests, each twice over one session. argv: a file of certificates, URLs."""
import sys

import requests

with requests.Session() as session:
    for url in sys.argv[2:] * 2:
        answer = session.get(url, verify=sys.argv[1], timeout=20)
        print(answer.status_code, answer.text)
