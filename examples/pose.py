# Geometry is known. Where can the machine be? All ways to assemble it, and a tool at a place.
import kinegraph

fourbar = kinegraph.load("models/fourbar.yaml")
branches = fourbar.kinematics(branches=True)
print(len(branches), "branches, P2.y:", branches["P2.y"].round(3))

arm = kinegraph.kinematics("models/arm7.urdf", goal={"tool": {"x": 0.4, "y": 0.1, "z": 0.6}})
print("joints:", [round(arm[f"joint{i}.q"][0], 3) for i in range(1, 8)])
