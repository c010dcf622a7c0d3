"""The papers' tables and figures that experiments are made for, in the papers' order.

Each is (name, what it shows, remark). The remark says how ours differs, or why there is none; figures of ours stand
nowhere here, they come from the records of the programs.
"""

PAPERS = [
    ("000", "Multibody factor graphs: planar mechanisms in natural coordinates", [
        ("Table 1", "accuracy and time per step of the fixed-lag smoother, by window",
         "The paper's errors are distances from an Adams model with g = 9.80665 and links 0.1 m wide, not errors of "
         "the method. Both are given: the distance from that model, and that from the exact motion. Times are of one "
         "thread; the paper's program builds and orders its graph anew in every step, ours does so once."),
        ("Table 3", "time of inverse dynamics",
         "The paper solves one graph over all samples, four times over; ours solves the instants one by one, since "
         "nothing ties them where the motion is prescribed. The machines differ too."),
        ("Fig. 1", "dynamic Bayesian networks, dependent and independent coordinates", ""),
        ("Fig. 2", "factor graph of forward dynamics, dependent coordinates",
         "Ours keeps the multipliers λ as variables; eliminated first, they give back the paper's factor."),
        ("Fig. 3", "factor graph of forward dynamics, independent coordinates", ""),
        ("Fig. 4", "factor graph of inverse dynamics",
         "Ours has no graph over all samples: the motion is prescribed, so that nothing ties the torques of different "
         "instants, and each instant is solved by itself. Shown is the graph of such an instant."),
        ("Fig. 7", "forward dynamics of the four-bar: positions, velocities, their errors", ""),
        ("Fig. 8", "how well the constraints are met over time", "The paper's axis is not in its text."),
        ("Fig. 9", "inverse dynamics of the four-bar: angle, torque, following error", ""),
        ("Fig. 10", "the pick-and-place robot", ""),
        ("Fig. 11", "pick-and-place robot: path of point 6 and angles of the motors",
         "The paper's path is in the reference data as motor angles only. They draw an L; point 6 is led along that."),
        ("Fig. 12", "pick-and-place robot: torques of the motors", ""),
    ]),
    ("001", "Inverse, forward and hybrid dynamics by elimination", [
        ("Table I", "inverse dynamics of a PUMA 560: time by ordering",
         "The paper measured GTSAM with elimination planned anew each time; ours is planned once. Nor are "
         "fronts the same: in the classic order every pivot is known to be an identity, and ours factors nothing there; "
         "GTSAM factors every front, so that orders with fewer fronts have less to do."),
        ("Table II", "forward dynamics of a PUMA 560: time by ordering",
         "In ABA's order our pivots are identities and numbers, in the general orders dense fronts that are factored "
         "with a search for pivots; GTSAM, which the paper measured, factors the fronts of all orders alike."),
        ("Table III", "orders for hybrid dynamics", "The paper prints orders, not numbers: the edges are counted."),
        ("Fig. 1", "dynamics factor graph of the PUMA 560", ""),
        ("Fig. 4", "inverse dynamics of a 3R robot: graph and block-sparse matrix", ""),
        ("Fig. 5", "steps of the elimination", "The paper draws its graphs and counts no edges; ours are counted."),
        ("Fig. 6", "forward dynamics of a 3R robot: graph and block-sparse matrix", ""),
        ("Fig. 7", "CRBA and ABA as directed graphs", ""),
        ("Fig. 9", "hybrid dynamics of a 3R robot: graph and block-sparse matrix", ""),
        ("Fig. 10", "hybrid dynamics: directed graphs of the two orders", ""),
        ("Fig. 12", "dynamics factor graph of the five-bar", ""),
        ("Algorithm 1", "inverse dynamics as back-substitution", ""),
        ("Five-bar", "torques of the five-bar with a planar factor (section VII)",
         "The paper prints no number; the reference is an independent computation."),
    ]),
    ("002", "Parameter estimation with frictional constraints", [
        ("Table 2", "parameters of a real pendulum from five recordings",
         "The paper's recordings are not published. Another, lighter pendulum, measured by others, stands in for them, so "
         "that J, b and rμ are those of another machine, and costs those of another encoder and of another κ: only the "
         "spread over recordings is like for like. The recordings here are five pieces of one swing, the paper's five "
         "swings from the upright position to rest. A free swing tells no mass: J and b count in that which is given."),
        ("Table 3", "errors of three friction models",
         "On the other pendulum, see Table 2: the costs themselves are of another machine, ratios between models compare. "
         "Its swing dies down from one recording to the next, so that models are cross-validated at other amplitudes "
         "than they were fitted to, unlike the paper's; and drag of the air, which is not among the paper's models, may "
         "hide what Stribeck friction it has: models with drag are below (friction of measured pendulums)."),
        ("Table 4", "parameters of a real Furuta pendulum",
         "The paper's recordings are not published: those of a simulated machine stand in for them, with the paper's "
         "numbers for synthetic data (its Table G.5) and with dry friction and a motor of our own. So ratios are of two "
         "machines; how near ours come to their truth is in the table. Inertias of ours are those of a possible solid, "
         "the paper's need not be. Below are the parameters of another real machine, whose measured motions there are; "
         "it is balanced by a controller, not swung up, and no number of it can be the paper's."),
        ("Fig. 4", "swing-up: parameters and errors over state weight and compliance",
         "On a simulated swing-up; the paper's recording is not published. The paper has two impulses per step as errors "
         "of the state, ours one."),
        ("Fig. 5", "swing-up: replays of the fitted models by weight",
         "On a simulated swing-up; the paper's recording is not published."),
        ("Fig. 6", "simulated data: parameters and errors over time step and compliance", ""),
        ("Fig. 7", "simulated data: parameters and errors over the state weight", ""),
        ("Fig. G.12", "the simulated observations", ""),
    ]),
    ("003", "Planning with dynamics factor graphs", [
        ("Fig. 5", "factor graph of kinodynamic planning",
         "The paper shows the graph of a robot's bodies in every knot; here their dynamics are one factor (001 Figs. 1 "
         "and 4 have it in full)."),
        ("Fig. 6", "cart-pole: two goals in quick succession", "The paper prints no number but the goals (section VII-A)."),
        ("Fig. 7", "arm with a block: motion with and without least torque",
         "The paper gives neither mass, start nor goal: the task is ours."),
        ("Fig. 8", "arm with a block: torques of joints 2 and 4", "The task is ours; the paper prints no number."),
        ("Fig. 9", "quadruped through six waypoints, rolled out open loop",
         "Gait, times and heights are ours: the paper prints none of them, and no number of its result. It does not say "
         "what its motors do when the plan is executed “open loop”: both are shown, motors that exert the plan's torques "
         "and know nothing else, and motors that hold the plan's joint angles, as a position control does."),
    ]),
    ("004", "Bayesian networks and a particle filter for mechanisms", [
        ("Fig. 2", "dynamic Bayesian network of a mechanism in dependent coordinates", ""),
        ("Fig. 4", "the network without dependent coordinates", ""),
        ("Fig. 6", "hypotheses of an unknown start, by number of particles", ""),
        ("Fig. 7", "tracking the crank from a gyroscope, start and branch unknown",
         "The paper shows one run. Here every setting, that which it prints and ours, is run for many seeds, and the "
         "share that converges is told."),
        ("Fig. 8", "error over the assumed noise, for wrong models",
         "The filter is ours (optimal proposal, 200 particles); the paper's draws from the motion alone, which leaves "
         "few particles near the readings where σ_a is small."),
        ("Fig. 10", "gyroscope readings of the two branches",
         "The recordings of the prototype are not published: the machine is simulated, with friction."),
        ("Fig. 11", "prototype: crank angle and probability of the branches",
         "The recordings of the prototype are not published: the machine is simulated, with friction that the filter "
         "does not know, and let go at rest; how the paper's recordings begin is not said, and its time is of one "
         "run. The paper's filter is run on the same readings; how many runs end in the right assembly is in the table."),
        ("Time by stage", "share of the time of each stage of the filter (section 6.2)",
         "Shares are of whatever the whole is: where motion takes less time than in the paper's program, normalising and "
         "resampling, which cost as much as ever, are a larger share."),
    ]),
]
