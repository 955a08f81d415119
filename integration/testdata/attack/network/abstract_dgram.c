/* Sends to an abstract datagram socket of the host. argv: its name. */
int main(int argc, char **argv) {
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	started();
	strncpy(to.sun_path + 1, argv[1], sizeof to.sun_path - 2);
	tell("sendto", sendto(socket(AF_UNIX, SOCK_DGRAM, 0), "hello", 5, 0, (void *)&to, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[1])));
	return 0;
}
