# Noisy readings are known. What is the motion, and how sure is it?
import kinegraph

model = kinegraph.load("models/fourbar_gyro.yaml")
truth = model.simulate(time=2, sensors=True, seed=1)
found = model.estimate(log=truth.readings, filter="batch")
error = found["theta.q"][-1] - truth["theta.q"][-1]
print(f"theta {found['theta.q'][-1]:.4f} ± {found['theta.q.sd'][-1]:.4f} rad, off by {error:.4f}")
