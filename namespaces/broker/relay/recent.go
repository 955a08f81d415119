package relay

import (
	"container/list"
	"time"
)

// recent keeps values by key, in the order of their last use. Locking is its owner's business.
type recent[K, V comparable] struct {
	at    map[K]*list.Element
	order list.List // the one used last is in front
}

type used[K, V comparable] struct {
	key   K
	value V
	last  time.Time
}

// get looks a value up, which is a use of it.
func (t *recent[K, V]) get(key K, now time.Time) (value V, ok bool) {
	e, ok := t.at[key]
	if !ok {
		return value, false
	}
	u := e.Value.(*used[K, V])
	u.last = now
	t.order.MoveToFront(e)
	return u.value, true
}

// put adds a value under a key that has none.
func (t *recent[K, V]) put(key K, value V, now time.Time) {
	if t.at == nil {
		t.at = map[K]*list.Element{}
	}
	t.at[key] = t.order.PushFront(&used[K, V]{key, value, now})
}

// remove takes a value out, if the key still stands for this one.
func (t *recent[K, V]) remove(key K, value V) {
	if e, ok := t.at[key]; ok && e.Value.(*used[K, V]).value == value {
		delete(t.at, key)
		t.order.Remove(e)
	}
}

// oldest is the value whose last use is longest ago; ok is false where there is none.
func (t *recent[K, V]) oldest() (value V, last time.Time, ok bool) {
	e := t.order.Back()
	if e == nil {
		return value, last, false
	}
	u := e.Value.(*used[K, V])
	return u.value, u.last, true
}

func (t *recent[K, V]) has(key K) bool { return t.at[key] != nil }

func (t *recent[K, V]) len() int { return len(t.at) }
