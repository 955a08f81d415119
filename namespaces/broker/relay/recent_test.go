package relay

import (
	"testing"
	"time"
)

func TestRecent(t *testing.T) {
	var r recent[string, int]
	begin := time.Unix(0, 0)
	at := func(n int) time.Time { return begin.Add(time.Duration(n)) }
	oldest := func(want int, when int) {
		t.Helper()
		if v, last, ok := r.oldest(); !ok || v != want || last != at(when) {
			t.Errorf("oldest %d of %v, %v; want %d of %v", v, last, ok, want, at(when))
		}
	}
	if _, _, ok := r.oldest(); ok || r.len() != 0 || r.has("a") {
		t.Error("an empty one has something")
	}
	if _, ok := r.get("a", at(0)); ok {
		t.Error("an empty one gives something")
	}
	r.remove("a", 1)
	for i, key := range []string{"a", "b", "c"} {
		r.put(key, i, at(i))
	}
	oldest(0, 0)
	if v, ok := r.get("a", at(3)); !ok || v != 0 {
		t.Errorf("a is %d, %v", v, ok)
	}
	oldest(1, 1)
	r.remove("b", 7) // another one than that which stands there
	oldest(1, 1)
	r.remove("b", 1)
	oldest(2, 2)
	if r.len() != 2 || r.has("b") || !r.has("a") {
		t.Errorf("%d are left, b: %v, a: %v", r.len(), r.has("b"), r.has("a"))
	}
}
