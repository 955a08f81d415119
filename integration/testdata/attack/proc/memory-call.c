/* Reads the memory of a process with a call that needs no file. argv: a process id, an address in it, how much. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	static char text[65536];
	struct iovec here = {text, atol(argv[3])}, there = {(void *)strtoul(argv[2], NULL, 10), atol(argv[3])};
	ssize_t n = tell("process_vm_readv", process_vm_readv(atoi(argv[1]), &here, 1, &there, 1, 0));
	fwrite(text, 1, n > 0 ? n : 0, stdout);
	return 0;
}
