from lxml import etree

rates = etree.parse("rates.xml")
etree.XMLSchema(file="rates.xsd").assertValid(rates)
page = etree.XSLT(etree.parse("page.xsl"))(rates)
page.write("rates.html", method="html")
print(str(page).strip())
