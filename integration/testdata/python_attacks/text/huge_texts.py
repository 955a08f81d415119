# Repeats, widths and joins.
#: eval bounded iiiiiiiiiiiiiiiii max_alloc|timeout
"a" * 10 ** 12
#--
"".join(["x" * 10 ** 6] * 10 ** 6)
#--
"%1000000000000d" % 1
#--
"%.*f" % (10 ** 9, 1.5)
#--
"{:1000000000000}".format(1)
#--
f"{1:1000000000000}"
#--
f"{1:>{10 ** 12}}"
#--
"x".zfill(10 ** 12)
#--
"x".ljust(10 ** 12)
#--
"x".center(10 ** 12)
#--
"\t".expandtabs(10 ** 9) * 1000
#--
("a" * 10 ** 6).replace("a", "b" * 10 ** 6)
#--
("a" * 10 ** 6).translate({97: "b" * 10 ** 6})
#--
("a" * 10 ** 6).join(["b"] * 10 ** 6)
#--
repr("\x00" * 10 ** 9) * 10
#--
("a" * 10 ** 6).replace("", "b" * 10 ** 6)
#--
format(1, "1000000000000")
