<stylesheet version="1.0" xmlns="http://www.w3.org/1999/XSL/Transform">
  <include href="row.xsl"/>
  <output method="html"/>
  <template match="/rates"><table><apply-templates/></table></template>
</stylesheet>
