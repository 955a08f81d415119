shadow = True
