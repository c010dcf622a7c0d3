# The twin of own_factor.cpp: the tip of a pendulum was measured, but it must lie on its circle. Where is it?
# Then the same inside the graph of a machine: where is a four-bar's crank, if a camera saw its point P2 go by?
import kinegraph
import numpy as np


class OnCircle(kinegraph.Factor):
    """A point stays at distance L from the origin.     Φ = x² + y² − L²"""

    name = "circle"

    def __init__(self, radius):
        self.radius = radius

    def evaluate(self, p):
        return [p @ p - self.radius**2], [2 * p.reshape(1, 2)]


graph = kinegraph.FactorGraph()
graph.variable("tip", [2, 3])
graph.check_jacobians(graph.add(OnCircle(5.0), "tip", role="equality"))
graph.add(lambda p: p - [2, 3], "tip", name="measured")  # derivatives by differences
report = graph.solve()
print(f"tip at ({graph['tip'][0]:.6f}, {graph['tip'][1]:.6f}): {report['message']}")

# What the camera saw: P2 of a four-bar that began to turn at 1 rad/s, which the model does not know.
seen = kinegraph.load("models/fourbar.yaml", set={"theta.v": 1}).simulate(time=0.5, step=0.01)
noise = np.random.default_rng(0).normal(0, 0.002, (len(seen), 2))
graph = kinegraph.FactorGraph.motion("models/fourbar.yaml", time=0.5, step=0.01, free_start=True)
at = [graph.coordinates.index(name) for name in ("P2.x", "P2.y")]
for k, (x, y) in enumerate(zip(seen["P2.x"], seen["P2.y"])):
    graph.add(lambda q, z=noise[k] + (x, y): q[at] - z, f"q[{k}]", sigma=0.002, name="camera")
graph.solve()
theta = graph.coordinates.index("theta")
sd = np.sqrt(graph.covariance("v[0]")[theta, theta])
print(f"the crank began to turn at {graph['v[0]'][theta]:.4f} ± {sd:.4f} rad/s")
