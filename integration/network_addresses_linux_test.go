package integration

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// worldAddresses are given to the loopback device. A network of IPv4 on it is wholly the machine's own, as 127.0.0.0/8 is.
var worldAddresses = []string{"192.0.2.1/24", "198.51.100.1/24", "203.0.113.1/24", "10.9.8.7/24", "169.254.169.254/32",
	"2001:db8::1/128", "2001:db8::2/128", "2001:db8::9/128", "fd00::1/128"}

// hasIPv6 reports whether the host lets a namespace have IPv6.
func hasIPv6() bool {
	b, err := os.ReadFile("/proc/sys/net/ipv6/conf/lo/disable_ipv6")
	return err == nil && string(b) == "0\n"
}

// giveAddresses raises the loopback device and gives it the world's addresses.
func giveAddresses() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("ioctl SIOCSIFFLAGS: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, lo); err != nil {
		return fmt.Errorf("ioctl SIOCGIFINDEX: %w", err)
	}
	kernel, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("socket netlink: %w", err)
	}
	defer unix.Close(kernel)
	for _, text := range worldAddresses {
		prefix := netip.MustParsePrefix(text)
		if prefix.Addr().Is6() && !hasIPv6() {
			continue
		}
		if err := giveAddress(kernel, lo.Uint32(), prefix); err != nil {
			return fmt.Errorf("address %s: %w", text, err)
		}
	}
	return nil
}

// giveAddress asks by RTM_NEWADDR, and reads whether the kernel did it.
func giveAddress(kernel int, device uint32, prefix netip.Prefix) error {
	family, raw := byte(unix.AF_INET), prefix.Addr().AsSlice()
	if prefix.Addr().Is6() {
		family = unix.AF_INET6
	}
	native := binary.NativeEndian
	attribute := func(b []byte, kind uint16) []byte {
		b = native.AppendUint16(b, uint16(unix.SizeofRtAttr+len(raw)))
		return append(native.AppendUint16(b, kind), raw...)
	}
	body := []byte{family, byte(prefix.Bits()), unix.IFA_F_NODAD, 0}
	body = native.AppendUint32(body, device)
	body = attribute(attribute(body, unix.IFA_LOCAL), unix.IFA_ADDRESS)

	message := native.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	message = native.AppendUint16(message, unix.RTM_NEWADDR)
	message = native.AppendUint16(message, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	message = append(message, 0, 0, 0, 0, 0, 0, 0, 0)
	if err := unix.Sendto(kernel, append(message, body...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("sendto: %w", err)
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(kernel, answer, 0)
	if err != nil {
		return fmt.Errorf("recvfrom: %w", err)
	}
	if n < unix.SizeofNlMsghdr+4 {
		return errors.New("a short answer")
	}
	if code := int32(native.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
