import os

os.environ.get("HTTP_PROXY")
print(os.environ.get("MY_SETTING", "d"), os.getenv("MY_API_KEY"), os.environ["LANG"])
os.getenv("PYTHONPATH")
print(len({k: v for k, v in os.environ.items()}) > 0, len(dict(os.environ)) > 0, len(os.environ) > 0)
for name in list(os.environ):
    pass
