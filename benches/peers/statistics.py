"""Score test, interval, bootstrap and power from scipy, beside `bench stats` and `bench power`.

usage: statistics.py PATH-TO-BENCH
"""

import json
import math
import subprocess
import sys
import time

try:
    import numpy as np
    from scipy import optimize, stats
except ImportError:
    print("scipy is missing: pip install scipy", file=sys.stderr)
    sys.exit(31)

MARGIN, ALPHA = 0.02, 0.05
TABLES = [(920, 5, 0, 75), (870, 30, 50, 50), (988, 12, 0, 0), (1780, 48, 40, 4), (190, 3, 4, 3)]


def score(n, gain, loss, d):
    """T(d) with the constrained estimate found by maximising the likelihood."""
    low, high = max(0.0, -d), (1.0 - d) / 2.0

    def cost(q):
        rest = 1.0 - 2.0 * q - d
        terms = ((loss, q), (gain, q + d), (n - loss - gain, rest))
        return -sum(count * math.log(max(p, 1e-300)) for count, p in terms if count)

    q = optimize.minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
    variance = n * (2.0 * q + d * (1.0 - d))
    return (gain - loss - n * d) / math.sqrt(variance)


def interval(n, gain, loss):
    z, estimate = stats.norm.isf(ALPHA), (gain - loss) / n
    lower = optimize.brentq(lambda d: score(n, gain, loss, d) - z, -0.9, estimate - 1e-9, xtol=1e-12)
    upper = optimize.brentq(lambda d: score(n, gain, loss, d) + z, estimate + 1e-9, 0.9, xtol=1e-12)
    return lower, upper


def bootstrap(n, gain, loss):
    """P*(G* - L* <= -margin*n): the step distribution to the n-th convolution power, by FFT."""
    size = 1 << (2 * n + 1).bit_length()
    step = np.zeros(size)
    step[0], step[1], step[-1] = (n - gain - loss) / n, gain / n, loss / n
    law = np.real(np.fft.ifft(np.fft.fft(step) ** n))
    floor = math.floor(-MARGIN * n + 1e-9)
    return float(sum(law[k] for k in range(-n, floor + 1)))


def power(n, discordance, difference):
    z, total = stats.norm.isf(ALPHA), 0.0
    gain_share = (discordance + difference) / 2.0 / discordance
    for m in range(n + 1):
        weight = stats.binom.pmf(m, n, discordance)
        if weight < 1e-15:
            continue
        # T rises in the gains at a fixed discordant total.
        low, high = 0, m + 1
        while low < high:
            middle = (low + high) // 2
            if closed(n, middle, m - middle, -MARGIN) >= z:
                high = middle
            else:
                low = middle + 1
        total += weight * stats.binom.sf(low - 1, m, gain_share)
    return total


def closed(n, gain, loss, d):
    a, b, c = 2 * n, -(gain + loss) + (2 * n - gain + loss) * d, -loss * d * (1 - d)
    q = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = n * (2 * q + d * (1 - d))
    return (gain - loss - n * d) / math.sqrt(variance) if variance > 0 else math.inf


def timed(work, *args):
    start = time.perf_counter()
    return work(*args), 1000 * (time.perf_counter() - start)


def ours(bench, *args):
    run = subprocess.run([bench, *args, "--json"], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    bench, worst = sys.argv[1], 0

    def row(name, found, peer, tolerance, ms, ours_ms):
        nonlocal worst
        agrees = abs(found - peer) <= tolerance
        worst |= not agrees
        print(f"{name:<34} {found:>14.9f} {peer:>14.9f} {abs(found - peer):>9.1e} {ms:>9.1f} {ours_ms:>9.1f} {'' if agrees else 'DISAGREES'}")

    print(f"{'':<34} {'bench':>14} {'scipy':>14} {'apart':>9} {'scipy ms':>9} {'bench ms':>9}")
    for cells in TABLES:
        n, loss, gain = sum(cells), cells[1], cells[2]
        text = ",".join(map(str, cells))
        report, ms = timed(ours, bench, "stats", "--table", text)
        t, peer_ms = timed(score, n, gain, loss, -MARGIN)
        # A bounded search ends within 1e-8 of the estimate where it lies on the bound.
        row(f"score p {text}", report["tango"]["p_lower"], stats.norm.sf(t), 1e-6, peer_ms, ms)
        limits, peer_ms = timed(interval, n, gain, loss)
        for end, peer in zip(report["tango_ci"], limits):
            row(f"interval {text}", end, peer, 1e-6, peer_ms, ms)
        p, peer_ms = timed(bootstrap, n, gain, loss)
        row(f"bootstrap p {text}", report["bootstrap_exact"]["p_lower"], p, 1e-9, peer_ms, ms)
    for n, discordance in ((1000, 0.05), (2000, 0.05)):
        args = ("power", "--replicates", "0", "--n", str(n), "--clusters", str(n), "--discordance", str(discordance))
        report, ms = timed(ours, bench, *args)
        p, peer_ms = timed(power, n, discordance, 0.0)
        row(f"power n={n} psi={discordance}", report["plan"]["at_n"]["power"], p, 1e-9, peer_ms, ms)
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())
