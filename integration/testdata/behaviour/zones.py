# Time zones by name and by TZ, and the locale of the caller.
import datetime
import locale
import os
import time
import zoneinfo

print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")).utcoffset())
print(datetime.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo("Asia/Kathmandu")).utcoffset(), len(zoneinfo.available_timezones()) > 300)
print(os.environ["TZ"], time.strftime("%H %z", time.localtime(1720000000)))
print(locale.setlocale(locale.LC_ALL, ""), locale.nl_langinfo(locale.CODESET), locale.localeconv()["decimal_point"])
print(sorted(n for n in os.environ if n.startswith("LC_") or n == "LANG"))
