import pathlib
import sys

from django.conf import settings

here = pathlib.Path(__file__).resolve().parent
settings.configure(
    DEBUG=True,
    SECRET_KEY="not one",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": here / "rates.db"}},
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [here / "templates"]}],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)


def page(request):
    from django.contrib.contenttypes.models import ContentType
    from django.shortcuts import render

    return render(request, "page.html", {"kinds": ContentType.objects.count()})


urlpatterns = []

if __name__ == "__main__":
    from django.core.management import execute_from_command_line
    from django.urls import path

    urlpatterns.append(path("", page))
    execute_from_command_line(sys.argv)
