/* Asks the C library, and walks its list of variables and what lies behind it. argv: the name. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	extern char **environ;
	char *v = getenv(argv[1]);
	puts(v ? v : "no variable of that name");
	for (char **e = environ; *e; e++)
		puts(*e);
	/* What the kernel put on the stack ends with the name of the program, at the end of the last page. */
	for (char *p = environ[0]; p && p < (char *)(((uintptr_t)environ[0] | 4095) - 8); p++)
		putchar(*p ? *p : '\n');
	return 0;
}
