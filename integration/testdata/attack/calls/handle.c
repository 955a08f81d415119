/* Gives a file a number that names it past every path, and opens it by that number where it may. argv: the file. */
int main(int argc, char **argv) {
	union { struct file_handle h; char room[sizeof(struct file_handle) + 128]; } u = {.h.handle_bytes = 128};
	int mount;
	started();
	if (tell("name_to_handle_at", name_to_handle_at(AT_FDCWD, argv[1], &u.h, &mount, 0)) == 0 ||
	    tell("name_to_handle_at", name_to_handle_at(AT_FDCWD, ".", &u.h, &mount, 0)) == 0)
		puts("reached the handle of a file");
	show("open_by_handle_at", open_by_handle_at(open(".", O_RDONLY | O_PATH), &u.h, O_RDONLY));
	return 0;
}
