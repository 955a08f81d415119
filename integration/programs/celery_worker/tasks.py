from celery import Celery

app = Celery("tasks", broker="redis://127.0.0.1:18433/0", backend="redis://127.0.0.1:18433/0")


@app.task
def convert(amount):
    with open("rate.txt") as f:
        return amount * float(f.read())
