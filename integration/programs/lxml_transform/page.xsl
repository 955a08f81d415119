<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:include href="row.xsl"/>
  <xsl:output method="html"/>
  <xsl:template match="/rates"><table><xsl:apply-templates/></table></xsl:template>
</xsl:stylesheet>
