/* Reads a secret out of the user's keyring. argv: the key's name. */
int main(int argc, char **argv) {
	static char text[256];
	started();
	long key = tell("keyctl", syscall(SYS_keyctl, 10, -4, "user", argv[1], 0));
	if (key >= 0 && syscall(SYS_keyctl, 11, key, text, sizeof text - 1, 0) >= 0)
		puts(text);
	key = tell("request_key", syscall(SYS_request_key, "user", argv[1], NULL, 0));
	if (key >= 0 && syscall(SYS_keyctl, 11, key, text, sizeof text - 1, 0) >= 0)
		puts(text);
	return 0;
}
