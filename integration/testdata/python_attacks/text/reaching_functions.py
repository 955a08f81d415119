# Built-in functions that reach into objects and frames.
#: eval wide psfpf call|magic
vars(tool)
#--
globals()
#--
dir(tool)[0].startswith("__")
#--
vars()
#--
"__class__" in dir(())
