"""Writes the vectors that crates/privet/tests/all/accounts.rs checks the privacy accounts against.

The other side is Google's dp-accounting: its privacy-loss distributions bracket the true delta of a composition (rounded
losses, optimistic and pessimistic), its Renyi accountant converts zCDP. Conversions between currencies are roots found by
mpmath. Run it in an environment made from requirements.txt, in this folder: `python make.py`. The output is committed.
"""

import json
import math
from fractions import Fraction

import dp_accounting
import mpmath
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld import privacy_loss_mechanism
from dp_accounting.rdp import rdp_privacy_accountant as rdp

mpmath.mp.dps = 60
STEP = 1e-4  # width of a loss bucket; every pure epsilon below is a multiple of it


def decimal(fraction):
    """Exact decimal text with at most 18 places."""
    units = Fraction(fraction) * 10**18
    assert units.denominator == 1, fraction
    whole, rest = divmod(units.numerator, 10**18)
    return f"{whole}.{rest:018d}".rstrip("0").rstrip(".")


def write(name, note, rows):
    with open(f"{name}.json", "w") as out:
        out.write('{\n"made_with": "dp-accounting 0.6.0, mpmath 1.4.1",\n')
        out.write(f'"note": {json.dumps(note)},\n"rows": [\n')
        out.write(",\n".join(json.dumps(row) for row in rows))
        out.write("\n]}\n")
    print(name, len(rows))


def gaussian_pld(mu, pessimistic):
    return pld.from_gaussian_mechanism(
        1 / float(mu), pessimistic_estimate=pessimistic, value_discretization_interval=STEP,
        use_connect_dots=False)


def two_point_pld(high, low, pessimistic):
    """The pair whose loss is `high` or `low`, exactly: both lie on the grid."""
    high, low = Fraction(high), Fraction(low)
    buckets = [loss * 10**4 for loss in (high, low)]
    assert all(bucket.denominator == 1 for bucket in buckets)
    # The masses times e^-loss add up to one as well.
    often = math.expm1(-float(low)) / (math.exp(-float(low)) - math.exp(-float(high)))
    mass = {int(buckets[0]): often, int(buckets[1]): 1 - often}
    return pld.PrivacyLossDistribution.create_from_rounded_probability(mass, 0.0, STEP, pessimistic)


def response_pld(epsilon, pessimistic):
    """Randomised response."""
    return two_point_pld(Fraction(epsilon), -Fraction(epsilon), pessimistic)


def discrete_gaussian_pld(sigma, sensitivity, pessimistic):
    return pld.from_discrete_gaussian_mechanism(
        float(sigma), sensitivity, pessimistic_estimate=pessimistic, value_discretization_interval=STEP)


def bracket(parts, epsilon):
    """Optimistic and pessimistic delta of a composition; each part is a function of `pessimistic` and a count."""
    found = []
    for pessimistic in (False, True):
        whole = None
        for make, times in parts:
            part = make(pessimistic)
            part = part.self_compose(times) if times > 1 else part
            whole = part if whole is None else whole.compose(part)
        found.append(float(whole.get_delta_for_epsilon(float(epsilon))))
    return {"low": found[0], "high": found[1]}


def gaussian():
    rows = []
    for mu in ["0.01", "0.1", "0.5", "1", "1.5", "3", "6"]:
        loss = privacy_loss_mechanism.GaussianPrivacyLoss(1 / float(mu))
        for epsilon in ["0", "0.01", "0.1", "0.5", "1", "2", "4", "8", "20"]:
            delta = float(loss.get_delta_for_epsilon(float(epsilon)))
            if 1e-15 < delta < 1:
                rows.append({"mu_squared": decimal(Fraction(mu) ** 2), "epsilon": epsilon, "delta": delta})
    write("gaussian", "delta of N(mu, 1) against N(0, 1)", rows)


def budget():
    rows = []
    for epsilon in ["0.1", "0.5", "1", "2", "4", "8"]:
        for delta in ["1e-5", "1e-6", "1e-9"]:
            sigma = dp_accounting.get_sigma_gaussian(float(epsilon), float(delta))
            rows.append({"epsilon": epsilon, "delta": delta, "mu": float(1 / sigma)})
    write("budget", "the largest mu within (epsilon, delta)", rows)


def mixed():
    """One randomised response and some normals: the box of caps is exact here."""
    rows = []
    for pure, mus, epsilon in [
        ("0.5", ["0.5"], "1"), ("1", ["0.2"], "1"), ("1", ["0.2"], "1.5"), ("2", ["1"], "4"), ("0.1", ["1"], "3"),
        ("0.613", ["0.1"], "1"), ("1.763", ["0.5"], "4"), ("0.5", ["0.3", "0.4"], "1.5"), ("3", ["0.5"], "0.5"),
        ("0.2", ["0.1", "0.1", "0.2"], "0.6"),
    ]:
        parts = [(lambda p, e=pure: response_pld(e, p), 1)]
        parts += [(lambda p, m=mu: gaussian_pld(Fraction(m), p), 1) for mu in mus]
        rows.append({
            "prices": [[{"pure": pure}, 1]] + [[{"gaussian": decimal(Fraction(mu) ** 2)}, 1] for mu in mus],
            "epsilon": epsilon, **bracket(parts, epsilon)})
    write("mixed", "true delta of randomised response with Gaussians, between low and high", rows)


def pure():
    """Many responses: their exact composition lies below the one response of the summed epsilon."""
    rows = []
    for each, times, epsilon in [("0.1", 10, "0.5"), ("0.1", 10, "0.9"), ("0.5", 4, "1"), ("0.5", 4, "2"),
                                 ("1", 3, "2.5"), ("0.01", 100, "0.3"), ("2", 1, "1.5")]:
        parts = [(lambda p, e=each: response_pld(e, p), times)]
        rows.append({"prices": [[{"pure": each}, times]], "epsilon": epsilon, **bracket(parts, epsilon)})
    write("pure", "true delta of `times` randomised responses, between low and high", rows)


def ranged():
    """Losses within an interval of length `range`, as of the exponential mechanism, at several places of it."""
    rows = []
    for width, times, epsilon in [("1", 1, "0.2"), ("1", 10, "2"), ("0.2", 50, "1"), ("4", 3, "5")]:
        for tenths in (1, 3, 5, 7, 9):
            top = Fraction(width) * tenths / 10
            parts = [(lambda p: two_point_pld(top, top - Fraction(width), p), times)]
            rows.append({"range": width, "times": times, "top": decimal(top), "epsilon": epsilon,
                         **bracket(parts, epsilon)})
    write("ranged", "true delta of `times` pairs whose loss is `top` or `top` - `range`", rows)


def concentrated():
    orders = [1 + x / 64 for x in range(1, 64 * 16)] + [16 + x / 4 for x in range(1, 4 * 2000)]
    rows = []
    for rho in ["0.0001", "0.001", "0.01", "0.1", "0.5", "1", "5"]:
        for delta in ["1e-5", "1e-6", "1e-9"]:
            r, d = mpmath.mpf(rho), mpmath.mpf(delta)
            by_grid, _ = rdp.compute_epsilon(orders, [float(rho) * a for a in orders], float(delta))
            # epsilon(alpha) of the conversion, minimised: its derivative has one root.
            at = lambda a: r * a + mpmath.log(1 - 1 / a) - mpmath.log(d * a) / (a - 1)
            best = mpmath.findroot(lambda a: mpmath.diff(at, a), 1 + mpmath.sqrt(-mpmath.log(d) / r))
            sigma = 1 / math.sqrt(2 * float(rho))
            rows.append({
                "rho": rho, "delta": delta, "accountant": float(by_grid), "optimum": float(at(best)),
                "gaussian": float(dp_accounting.get_epsilon_gaussian(sigma, float(delta)))})
    write("concentrated", "epsilon at delta of rho-zCDP: by a grid of orders, at the best order, and of the Gaussian that "
          "is exactly rho-zCDP (no bound may be below it)", rows)


def discrete():
    """Discrete Gaussians are charged in zCDP; next to them a response and a normal in their own caps."""
    rows = []
    for sigma, sensitivity, times, others, epsilon in [
        ("0.5", 1, 1, None, "6"), ("1", 1, 1, None, "3"), ("2", 1, 1, None, "1"), ("4", 1, 16, None, "2"),
        ("10", 1, 10, None, "1"), ("2.5", 2, 5, None, "6"), ("20", 3, 40, None, "3"), ("1", 1, 8, None, "12"),
        ("4", 1, 4, ("0.5", "0.2"), "2.5"), ("10", 1, 10, ("0.2", "0.3"), "1.8"), ("2", 1, 1, ("1", "0.5"), "4"),
    ]:
        rho = Fraction(sensitivity) ** 2 / (2 * Fraction(sigma) ** 2)
        parts = [(lambda p: discrete_gaussian_pld(sigma, sensitivity, p), times)]
        prices = [[{"concentrated": decimal(rho)}, times]]
        if others:
            epsilon0, mu = others
            parts += [(lambda p: response_pld(epsilon0, p), 1), (lambda p: gaussian_pld(Fraction(mu), p), 1)]
            prices += [[{"pure": epsilon0}, 1], [{"gaussian": decimal(Fraction(mu) ** 2)}, 1]]
        rows.append({"prices": prices, "epsilon": epsilon, **bracket(parts, epsilon)})
    write("discrete", "true delta of discrete Gaussians, some with a randomised response and a Gaussian", rows)


def conversions():
    rows = []
    for epsilon in ["0.000000001", "0.001", "0.1", "0.5", "1", "2", "4", "8", "20", "50", "1000"]:
        e = mpmath.mpf(epsilon)
        # Phi(-a) = 1/(1+e^epsilon), in logarithms; mu = 2a.
        tail = lambda a: mpmath.log(mpmath.erfc(a / mpmath.sqrt(2)) / 2) + mpmath.log1p(mpmath.exp(e))
        guess = e * mpmath.sqrt(mpmath.pi / 8) if e < 3 else mpmath.sqrt(2 * e) - 1
        a = mpmath.findroot(tail, guess)
        rows.append({"epsilon": epsilon, "mu_squared_units": str(int(mpmath.ceil(4 * a * a * 10**18)))})
    write("conversions", "the squared mu of a pure epsilon in units of 1e-18, rounded up", rows)


if __name__ == "__main__":
    gaussian()
    budget()
    mixed()
    pure()
    ranged()
    concentrated()
    discrete()
    conversions()
