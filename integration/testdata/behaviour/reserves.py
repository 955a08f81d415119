# Reserves far more address space than memory it touches, as arenas and mapped models do.
import mmap

m = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
m[0] = 1
m[-1] = 1
print("RESERVED", len(m) >> 30)
