import requests

with requests.Session() as session:
    for path in ("", "none"):
        answer = session.get("http://127.0.0.1:18435/" + path, timeout=20)
        print(answer.status_code, answer.headers["Content-Type"])
        if answer.ok:
            with open("answer.html", "w") as f:
                f.write(answer.text)
