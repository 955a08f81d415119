/* Writes one file without end into a folder it was granted. argv: the folder, how many MiB, a word to be found by. */
int main(int argc, char **argv) {
	static char piece[1 << 20];
	char path[4096];
	long n = 0, k = 0;
	started();
	int fd = tell("open", open(strcat(strcpy(path, argv[1]), "/full"), O_CREAT | O_WRONLY, 0644));
	memset(piece, 'x', sizeof piece);
	for (; n < atol(argv[2]) << 20 && (k = write(fd, piece, sizeof piece)) > 0; n += k)
		;
	tell("write", k);
	ready();
	return 0;
}
