package integration

import "testing"

// TestNetworkLite: without a network of its own a box is held by the same rules: Landlock refuses it every connect, and what is allowed is
// connected for it.
func TestNetworkLite(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		throughLite = true
		for name, body := range map[string]func(*testing.T, *world){"flipped address": flippedAddress, "handed socket": handedSocket, "spellings": spelledAddresses,
			"rebinding": rebindingNames, "mixed names": mixedNames} {
			t.Run(name, func(t *testing.T) { body(t, w) })
		}
	})
}
