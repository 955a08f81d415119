<stylesheet version="1.0" xmlns="http://www.w3.org/1999/XSL/Transform">
  <template match="rate"><tr><td><value-of select="@name"/></td><td><value-of select="."/></td></tr></template>
</stylesheet>
