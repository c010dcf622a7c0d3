# Some torques and some accelerations are known. What are the others? NaN is asked for.
import kinegraph
from numpy import nan

known = {"t": [0, 0.1], "left_motor.q": [0, 0.0245], "left_motor.v": [0, 0.4794], "left_motor.a": [5, nan],
         "left_motor.tau": [nan, -0.9], "right_motor.q": [0, -0.0122], "right_motor.v": [0, -0.2397],
         "right_motor.a": [-2.5, nan], "right_motor.tau": [nan, 0.8]}
found = kinegraph.hybrid("models/five_bar.sdf", known=known)
print("torques:", found["left_motor.tau"], found["right_motor.tau"], "accelerations:", found["left_motor.a"])
