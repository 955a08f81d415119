def f( a ):
  return 'b'+a
