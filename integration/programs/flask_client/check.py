from app import app

client = app.test_client()
for path in ("/", "/rates", "/static/style.css", "/absent"):
    answer = client.get(path)
    print(path, answer.status_code, answer.mimetype, len(answer.data))
