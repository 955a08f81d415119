# A class pattern reads attributes that no attribute node names.
#: exec never sss magic|attribute 3.10
match ():
    case tuple(__class__=c):
        print("reached", c)
#--
match (x for x in [1]):
    case object(gi_frame=f):
        print("reached", f)
#--
match data.append:
    case object(__self__=s):
        print("reached", s)
