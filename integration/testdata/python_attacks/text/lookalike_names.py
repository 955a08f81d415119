# Letters that the parser folds into refused names.
#: eval wide sss magic
().__ｃlass__.__ｍro__
#--
(lambda: 0).__𝐠𝐥𝐨𝐛𝐚𝐥𝐬__
#--
()._＿class_＿
