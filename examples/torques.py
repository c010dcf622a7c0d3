# The motion is known. Which torque makes it move so?
import kinegraph
import numpy as np

t = np.linspace(0, 2, 201)
wanted = {"t": t, "theta.q": 0.5 * np.sin(np.pi * t) ** 2}
torque = kinegraph.inverse("models/fourbar.yaml", motion=wanted)
print(f"peak torque {abs(torque['theta.tau']).max():.2f} N m")
