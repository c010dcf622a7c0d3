# The twin of fourbar.cpp: read a model, let it fall for a second, print where its points are.
#   python fourbar.py models/fourbar.yaml
import sys

import kinegraph

motion = kinegraph.simulate(sys.argv[1] if len(sys.argv) > 1 else "models/fourbar.yaml", time=1)
print(f"after {motion.t[-1]:g} s:")
for name, series in motion.items():
    print(f"  {name:<10} {series[-1]:12.9f}")
print(f"largest constraint violation {motion.summary['constraint_max']:.1e} m^2")
