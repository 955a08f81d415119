import pathlib

import jinja2
import markdown

templates = jinja2.Environment(loader=jinja2.FileSystemLoader("templates"))
pathlib.Path("site").mkdir(exist_ok=True)
for text in sorted(pathlib.Path("texts").glob("*.md")):
    page = templates.get_template("page.html").render(title=text.stem, text=markdown.markdown(text.read_text()))
    pathlib.Path("site", text.stem + ".html").write_text(page)
    print(text.stem, len(page))
