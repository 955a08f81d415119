<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="rate"><tr><td><xsl:value-of select="@name"/></td><td><xsl:value-of select="."/></td></tr></xsl:template>
</xsl:stylesheet>
