# A recorded motion is known. How large is the friction?
import kinegraph

model = kinegraph.load("models/rubbing_pendulum.yaml")
swing = model.simulate(formulation="maximal", time=5, sensors=True).readings
found = model.identify(log=swing, free=["O.viscous", "O.dry"])
for quantity in found.summary["quantities"]:
    print(f"{quantity['name']} = {quantity['value']:.5f} ± {quantity['sd']:.5f}")
replay = model.set(found.fitted).simulate(formulation="maximal", time=5)
