# needs: jinja2
import jinja2
import jinja2.sandbox

env = jinja2.Environment(loader=jinja2.DictLoader({
    "base": "<{% block body %}{% endblock %}>",
    "page": "{% extends 'base' %}{% macro item(x) %}[{{ x|upper }}]{% endmacro %}{% block body %}{% for x in xs if x %}{{ item(x) }}{{ loop.index }}{% endfor %}{% endblock %}",
    "bad": "a\n{{ 1 / n }}\n",
}), undefined=jinja2.StrictUndefined)
env.filters["twice"] = lambda x: x * 2
print(env.get_template("page").render(xs=["a", "", "b"]), env.from_string("{{ x|twice }}").render(x="ab"), env.compile_expression("a + 1")(a=2))
for run in (lambda: env.get_template("bad").render(n=0), lambda: env.from_string("{{ gone }}").render(), lambda: env.from_string("{% if %}"),
            lambda: jinja2.sandbox.SandboxedEnvironment().from_string("{{ ''.__class__.__mro__ }}").render()):
    try:
        run()
    except Exception as e:
        print(type(e).__name__, e, getattr(e, "lineno", ""))
