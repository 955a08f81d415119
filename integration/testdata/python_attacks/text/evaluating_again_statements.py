# The same with statements.
#: exec dynamic sss magic|import|call
exec("class X:\n  def __del__(self): pass\nprint('reached')")
#--
eval(compile("import os; print('reached', os)", "x", "exec"))
#--
exec("try:\n  1/0\nexcept Exception as e:\n  print('reached', e.__traceback__)")
