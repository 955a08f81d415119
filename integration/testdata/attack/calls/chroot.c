/* Leaves its root in the old way: a second chroot below the first, and up from a folder outside of it. argv: a folder. */
int main(int argc, char **argv) {
	started();
	tell("unshare", unshare(CLONE_NEWUSER)); /* for the right */
	if (tell("chroot", chroot(argv[1])) == 0)
		puts("reached a root of its own choice");
	for (int i = 0; i < 64; i++)
		chdir("..");
	tell("chroot", chroot("."));
	return 0;
}
