package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestGivenNames: names with what each is to Python, sorted; a file that Python could not give is refused with the reason.
func TestGivenNames(t *testing.T) {
	list, problem := givenNames([]byte(` {"z": {"a": 1}, "b1": [1], "s": "x", "yes": true, "no": null, "i": -3, "f": 1.5, "e": 1e3, "id": 0} `))
	if got := fmt.Sprint(list); problem != "" || got != "[{b1 list} {e float} {f float} {i int} {id int} {no None} {s str} {yes bool} {z dict}]" {
		t.Errorf("%s %s", got, problem)
	}
	if _, problem := givenNames([]byte(`{"a": ` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `, "b": [[]]}`)); problem != "" {
		t.Error(problem)
	}
	many := `{"a0": 0`
	for i := range 64 {
		many += fmt.Sprintf(`, "b%d": 1`, i)
	}
	for text, want := range map[string]string{
		"": "no JSON object", "null": "no JSON object", "[1]": "no JSON object", `{"a": NaN}`: "no JSON object", `{"a": 1} x`: "no JSON object",
		`{"class": 1}`: "class: no name", `{"": 1}`: "no name", `{"a-b": 1}`: "a-b: no name", `{"1a": 1}`: "1a: no name", `{"_": 1}`: "_: no name", `{"__builtins__": 1}`: "__builtins__: no name", `{"ä": 1}`: "no name",
		`{"a": "` + "\xff" + `"}`: "no UTF-8", `{"a": 1` + strings.Repeat("0", 4000) + `}`: "a number of more than 4000 digits",
		`{"a": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: "more than 100 lists and objects within each other",
		many + "}": "65 names, at most 64", `{"a": "` + strings.Repeat("x", 1<<20) + `"}`: "more than 1048576 bytes",
	} {
		if list, problem := givenNames([]byte(text)); !strings.Contains(problem, want) || list != nil {
			t.Errorf("%.40s: %v %q, want %q", text, list, problem, want)
		}
	}
}
