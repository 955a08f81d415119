"""Fetches pages from twenty threads. argv: a host and its port."""
import concurrent.futures
import http.client
import sys


def get(number):
    c = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]), timeout=20)
    for page in range(3):
        c.request("GET", "/%d/%d" % (number, page))
        text = c.getresponse().read().decode().strip()
    c.close()
    return text


with concurrent.futures.ThreadPoolExecutor(20) as pool:
    print(*pool.map(get, range(40)), sep="\n")
