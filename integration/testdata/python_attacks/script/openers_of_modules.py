# Files by what other modules carry: the kernel judges them.
#: codecs *
#: io *
#: descriptor *
#: tokenize *
#: path *
#: fileinput *
#: copy *
import bz2
import codecs
import fileinput
import io
import json
import linecache
import logging
import os
import pathlib
import shutil
import tokenize
from tries import attempt, canary

attempt("codecs", lambda: print(json.codecs.open(canary).read()))
attempt("io", lambda: print(io.FileIO(canary).read()))
attempt("descriptor", lambda: print(os.read(logging.os.open(canary, 0), 100)))
attempt("linecache", lambda: print(linecache.getlines(canary)[0]))
attempt("tokenize", lambda: print(tokenize.open(canary).read()))
attempt("path", lambda: print(pathlib.Path(canary).read_bytes()))
attempt("fileinput", lambda: print(next(fileinput.input([canary]))))
attempt("copy", lambda: [shutil.copyfile(canary, "/tmp/" + os.path.basename(canary)), print(open("/tmp/" + os.path.basename(canary)).read()), os.remove("/tmp/" + os.path.basename(canary))])
