"""MEEP: a pulse in a bent waveguide; the flux behind the bend, and the energy that is left."""

import sys

import meep as mp

steps = int(sys.argv[1])
guide = mp.Medium(epsilon=12)
simulation = mp.Simulation(
    cell_size=mp.Vector3(10, 10),
    resolution=10,
    boundary_layers=[mp.PML(1)],
    geometry=[
        mp.Block(mp.Vector3(6, 1), center=mp.Vector3(-2, -2), material=guide),
        mp.Block(mp.Vector3(1, 6), center=mp.Vector3(1.5, 1.5), material=guide),
    ],
    sources=[
        mp.Source(
            mp.GaussianSource(0.15, fwidth=0.1), component=mp.Ez, center=mp.Vector3(-4, -2), size=mp.Vector3(0, 1)
        )
    ],
)
behind = mp.FluxRegion(center=mp.Vector3(1.5, 3.5), size=mp.Vector3(2, 0))
flux = simulation.add_flux(0.15, 0.1, 5, behind)
simulation.run(until=steps * simulation.Courant / simulation.resolution)
energy = simulation.field_energy_in_box(center=mp.Vector3(), size=mp.Vector3(8, 8))
frequencies, powers = mp.get_flux_freqs(flux), mp.get_fluxes(flux)  # all ranks together
if mp.am_master():
    for frequency, power in zip(frequencies, powers, strict=True):
        print(f"result: flux {frequency:.4f} {power:.6e}")
    print(f"result: energy {energy:.6e}")
    print("result: steps", simulation.fields.t)
