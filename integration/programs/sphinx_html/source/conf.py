project = "rates"
extensions = ["sphinx.ext.autodoc"]
html_theme = "alabaster"
