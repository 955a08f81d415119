import os

from PIL import Image

os.makedirs("thumbs", exist_ok=True)
for name in sorted(os.listdir("pictures")):
    with Image.open(os.path.join("pictures", name)) as picture:
        picture.thumbnail((16, 16))
        picture.save(os.path.join("thumbs", name.replace(".png", ".jpg")))
        print(name, picture.size)
