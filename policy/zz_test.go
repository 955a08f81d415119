package policy
import ("testing";"strings";"time")
func TestZZ(t *testing.T){
 n:=MaxSize/2-20
 for name,s:=range map[string]string{
  "arr":"x = "+strings.Repeat("[",n)+strings.Repeat("]",n),
  "arropen":"x = "+strings.Repeat("[",2*n),
  "tab":"x = "+strings.Repeat("{a=",MaxSize/5)+"1"+strings.Repeat("}",MaxSize/5),
  "ref":"[files]\n\""+strings.Repeat("${A:-",MaxSize/7)+strings.Repeat("}",MaxSize/7)+"\" = \"read\"",
  "inldot":"x = {"+strings.Repeat("a.",20000)+"a=1}",
 "refenv":"[env]\nA=\""+strings.Repeat("${A:-",MaxSize/7)+strings.Repeat("}",MaxSize/7)+"\"",
  "dotted":"[python.import]\n"+strings.Repeat("a.",MaxSize/3)+"a=true",
  "hdr":"["+strings.Repeat("a.",MaxSize/3)+"a]",
  "many":"[files]\n"+func()string{var b strings.Builder; for i:=0;i<4000;i++{b.WriteString("\"x"+strings.Repeat("y",i%7)+string(rune('a'+i%26))+time.Duration(i).String()+"\"=\"read\"\n")};return b.String()}(),
  "bad":strings.Repeat("q",1)+"=1\n"+func()string{var b strings.Builder; for i:=0;i<4000;i++{b.WriteString("k"+time.Duration(i).String()[:len(time.Duration(i).String())-2]+"x"+strings.Repeat("z",i%5)+"=1\n")};return b.String()}(),
  "comments":strings.Repeat("#\n",MaxSize/2-5)+"[files]\n",
 }{ st:=time.Now(); p,err:=Parse("p",[]byte(s)); e:=""; if err!=nil{e=err.Error(); if len(e)>150{e=e[:150]}}; d1:=time.Since(st); st=time.Now(); if err==nil { p.Expand(testMacros) }; d2:=time.Since(st); st=time.Now(); if err==nil { Edit([]byte(s),[]Rule{ruleLine("env A"),ruleLine("read q"),ruleLine("read q2")}) }
  t.Log(name,d1,d2,time.Since(st),e)}
}
