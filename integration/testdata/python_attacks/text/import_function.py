# The function behind the statement.
#: eval wide sss call|import|magic
__import__("o" + "s")
#--
[__import__][0]("os")
#--
(lambda i=__import__: i("os"))()
