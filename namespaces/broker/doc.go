// Package broker reaches outside on behalf of a box that has no network: it connects, listens, sends and resolves names as the policy
// says, and gives the program what came of it. It does not decide: a Judge does. It starts no process and holds no connection open that the
// program has closed. See docs/notes/0007-broker.md for the picture and docs/network.md for what a rule means.
package broker
