/* Fills memory that no process has mapped: a file in memory. argv: nothing, how many MiB, a word to be found by. */
int main(int argc, char **argv) {
	static char piece[1 << 20];
	char path[4096];
	long n = 0, k = 0;
	started();
	int fd = tell("open", memfd_create("full", 0));
	memset(piece, 'x', sizeof piece);
	for (; n < atol(argv[2]) << 20 && (k = write(fd, piece, sizeof piece)) > 0; n += k)
		;
	tell("write", k);
	ready();
	return 0;
}
