"""Bends a cantilever beam by finite elements: reads beam.dat, prints the deflection, writes beam.out."""

from math import pi
from pathlib import Path

STIFFNESS = ((12, 6, -12, 6), (6, 4, -6, 2), (-12, -6, 12, -6), (6, 2, -6, 4))
INERTIA = ((156, 22, 54, -13), (22, 4, 13, -3), (54, 13, 156, -22), (-13, -3, -22, 4))


def assembled(element, scale, h, elements):
    """Sum of all elements of a beam that is clamped at one end (Euler and Bernoulli, cubic elements)."""
    size = 2 * elements + 2
    matrix = [[0.0] * size for _ in range(size)]
    for e in range(elements):
        for i in range(4):
            for j in range(4):
                matrix[2 * e + i][2 * e + j] += scale * element[i][j] * h ** (i % 2 + j % 2)
    return [row[2:] for row in matrix[2:]]


def solved(matrix, right):
    """The solution of a system that is symmetric and positive definite."""
    rows = [[*row, r] for row, r in zip(matrix, right, strict=True)]
    for k, pivot in enumerate(rows):
        for row in rows[k + 1 :]:
            factor = row[k] / pivot[k]
            for j in range(k, len(pivot)):
                row[j] -= factor * pivot[j]
    x = [0.0] * len(rows)
    for k in reversed(range(len(rows))):
        x[k] = (rows[k][-1] - sum(rows[k][j] * x[j] for j in range(k + 1, len(x)))) / rows[k][k]
    return x


def product(matrix, x):
    """Matrix times vector."""
    return [sum(a * b for a, b in zip(row, x, strict=True)) for row in matrix]


def frequency(stiffness, inertia):
    """The lowest frequency of the beam, by inverse iteration."""
    x = [1.0] * len(stiffness)
    for _ in range(50):
        forces = product(inertia, x)
        y = solved(stiffness, forces)
        square = sum(a * b for a, b in zip(forces, x, strict=True)) / sum(a * b for a, b in zip(forces, y, strict=True))
        x = [value / max(map(abs, y)) for value in y]
    return square**0.5 / (2 * pi)


def main():
    """Solve the beam of beam.dat."""
    lines = Path("beam.dat").read_text().splitlines()
    given = {line.split()[0]: float(line.split()[1]) for line in lines if line.strip()}
    area, moment = given["WIDTH"] * given["HEIGHT"], given["WIDTH"] * given["HEIGHT"] ** 3 / 12
    elements = int(given["ELEMENTS"])
    h = given["LENGTH"] / elements
    stiffness = assembled(STIFFNESS, given["YOUNG"] * moment / h**3, h, elements)
    inertia = assembled(INERTIA, given["DENSITY"] * area * h / 420, h, elements)
    load = [0.0] * len(stiffness)
    load[-2] = given["LOAD"]
    print(f"DEFLECTION = {solved(stiffness, load)[-2]:.9e} m")
    Path("beam.out").write_text(f"# mode, frequency\n1, {frequency(stiffness, inertia):.9e}\n")


if __name__ == "__main__":
    main()
