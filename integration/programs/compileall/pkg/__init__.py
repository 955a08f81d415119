from .one import one
