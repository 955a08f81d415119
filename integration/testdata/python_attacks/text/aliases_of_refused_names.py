# A refused function by another name: the object itself is not there.
#: eval wide sssssss call
[*map((f := [open][0]), [path])] or 1
#--
sorted([path], key=open) or 1
#--
max([path], key=(lambda o=open: o)())
#--
{"o": open}["o"](path).read()
#--
(open if data else 0)(path).read()
#--
[o(path) for o in (open,)]
#--
(lambda *a: a[0](a[1]))(*(open, path))
