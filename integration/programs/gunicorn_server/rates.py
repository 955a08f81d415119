import json


def app(environ, start_response):
    with open("rates.json") as f:
        rates = json.load(f)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{environ['PATH_INFO']} {rates['eur']}".encode()]
