# What variables name as pager, browser or debugger is a program.
#: pager - call subprocess.Popen
#: file-pager - call os.system|subprocess.Popen
#: browser - call subprocess.Popen
import os
import pydoc
import webbrowser
from tries import attempt, canary, cat

attempt("pager", lambda: pydoc.pipepager("text\n", cat) if hasattr(pydoc, "pipepager") else pydoc.pipe_pager("text\n", cat))
attempt("file-pager", lambda: pydoc.tempfilepager("text\n", cat) if hasattr(pydoc, "tempfilepager") else pydoc.tempfile_pager("text\n", cat))
attempt("browser", lambda: webbrowser.GenericBrowser(["/bin/cat", canary]).open("x"))
