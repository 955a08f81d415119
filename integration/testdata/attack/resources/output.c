/* Prints without end, to both streams. argv: how many KiB at most. */
int main(int argc, char **argv) {
	char line[4096];
	started();
	memset(line, 'x', sizeof line);
	line[sizeof line - 1] = '\n';
	for (int i = 0; i < atoi(argv[1]) / 8; i++) {
		write(1, line, sizeof line);
		write(2, line, sizeof line);
	}
	return 0;
}
