/* Runs a set-user-ID program. argv: one that says who it is. */
int main(int argc, char **argv) {
	started();
	execl(argv[1], argv[1], "-u", NULL);
	perror("execl");
	return 0;
}
