# status: 1
print("never")
if True
    pass
