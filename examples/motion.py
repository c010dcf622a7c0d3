# The start and the forces are known. How does it move?
import kinegraph

fourbar = kinegraph.load("models/fourbar.yaml", set={"theta.q": "30deg"})
motion = fourbar.simulate(time=2, step="1ms", reactions=True)
print(f"theta after {motion.t[-1]:g} s: {motion['theta.q'][-1]:.4f} rad, energy error {motion.summary['energy_error']:.1e} J")
print(f"largest force in pin A: {abs(motion['A.fy']).max():.1f} N")
