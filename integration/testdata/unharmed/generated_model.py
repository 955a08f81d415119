import inspect
import sys

sys.path.insert(0, "site-packages")
from models import Model  # noqa: E402


class User(Model):
    id: int
    name: str = "nobody"


class Admin(User):
    level: float = 1


print(User(id="7"), Admin(id=1, name="root", level="2.5"))
print(inspect.getsource(User.__init__).splitlines()[0], eval("User(id=3).id + 1"))
try:
    User(id="x")
except ValueError as e:
    print(e)
