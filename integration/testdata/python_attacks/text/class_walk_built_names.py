# The same walk, with names that no scan of the text can see.
#: eval wide pppppp magic
getattr((), "_" * 2 + "ssalc"[::-1] + chr(95) * 2, "fallback")
#--
getattr((), bytes([95, 95, 99, 108, 97, 115, 115, 95, 95]).decode())
#--
getattr((), "%c%cclass%c%c" % (95, 95, 95, 95))
#--
getattr((), f"{'_' * 2}class{'_' * 2}")
#--
hasattr((), "__cl" + "ass__")
#--
getattr((), "".join(map(chr, [95, 95, 99, 108, 97, 115, 115, 95, 95])), None)
