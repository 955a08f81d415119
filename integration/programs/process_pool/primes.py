from concurrent.futures import ProcessPoolExecutor


def prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


if __name__ == "__main__":
    with ProcessPoolExecutor(max_workers=2) as pool:
        numbers = range(10_000, 10_060)
        print([n for n, yes in zip(numbers, pool.map(prime, numbers)) if yes])
