# needs: IPython
import os
import pathlib

os.environ["IPYTHONDIR"] = os.path.abspath(".ipython")
from IPython.core.interactiveshell import InteractiveShell

pathlib.Path("cell.ipy").write_text("a = 20\nb = a + 1\nprint(a, b)\n")
shell = InteractiveShell.instance(colors="NoColor", history_load_length=0, cache_size=10)
shell.history_manager.enabled = False
for cell in ("%run cell.ipy", "b * 2", "_ + 1", "from collections import Counter\nCounter('aab')", "%%capture got\nprint('x')", "got.stdout", "Counter?", "1 / 0",
             "import asyncio\nawait asyncio.sleep(0, 'slept')", "%who_ls", "def f(x): return x\nf??", "%cd -q /\n", "[x for x in %who_ls]"):
    result = shell.run_cell(cell, store_history=False)
    print("->", repr(result.result), type(result.error_in_exec or result.error_before_exec).__name__)
print(shell.Completer.complete("Count")[1])
