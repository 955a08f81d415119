# Allowed modules show what they imported themselves.
#: exec wide pppppppp attribute|import
import uuid
print("reached", uuid.os)
#--
import dataclasses
print("reached", dataclasses.sys)
#--
import typing
print("reached", typing.sys)
#--
import enum
print("reached", enum.sys)
#--
import calendar
print("reached", calendar.sys)
#--
import json
print("reached", json.codecs)
#--
import json
print("reached", getattr(json, "cod" + "ecs"))
#--
import operator, json
print("reached", operator.attrgetter("codecs.open")(json))
