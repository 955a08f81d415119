/* Reads the log of the kernel by its call. argv: none. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	static char text[1 << 20];
	long n = tell("syslog", syscall(SYS_syslog, 3, text, sizeof text));
	if (n > 0)
		fwrite(text, 1, n, stdout);
	return 0;
}
