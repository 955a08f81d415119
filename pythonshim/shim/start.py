# Starts the rest when the interpreter is far enough: encodings is imported before signals and the file system's encoding
# are up, `import io` is the first import after them and comes before site and the program.
from common import *  # psb: cut


class waiter:
    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "io":
            try:
                sys.meta_path.remove(waiter)
            except ValueError:
                return None
            try:
                install()
            except Exception as e:
                broken(e)
        return None


sys.meta_path.insert(0, waiter)
