"""Crocoddyl (PyPI) on the cart-pole of plan_bench, as near as its form allows: plan_peers.py [SECONDS]

Crocoddyl shoots: a control is held over a step of its integrator (symplectic Euler, at our steps), and goals are costs.
Their weight is raised tenfold, each solution starting the next, until goals are met to 1e-6, or until SECONDS (30) of
the processor are spent. Told, as a row of plan_bench's table, are these seconds, iterations, the effort that is left as
a cost, and how far goals are missed. With weights that start below 1e4 it ends between hanging and standing (0.7 rad off), whatever comes after.

Arms are not here: version 3.2.1 with the Pinocchio that pip gives it (4.1.0) dies of a segmentation fault in the
derivatives of any residual of a frame (ResidualModelFramePlacement.calcDiff)."""

import os
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../models")
NEAR = 1e-6  # rad, m, and their rates
FIRST_WEIGHT, LAST_WEIGHT, MOST_ITERATIONS = 1e4, 1e14, 300  # iterations per weight


class FirstJoint(crocoddyl.ActuationModelAbstract):
    """A motor at the first joint alone."""

    def __init__(self, state):
        super().__init__(state, 1)
        self.share = np.eye(state.nv, 1)

    def calc(self, data, x, u):
        data.tau = self.share @ u

    def calcDiff(self, data, x, u):
        data.dtau_du = self.share


class Task:
    """Least effort with goals at knots. goals: {knot: {name: residual}}, made for a state and a number of controls."""

    def __init__(self, robot, actuation_of, effort, goals, start, steps, horizon):
        state = crocoddyl.StateMultibody(robot)
        actuation = actuation_of(state)
        self.effort, self.step, self.steps, self.goals = effort, horizon / steps, steps, []
        asked, models = goals(state, actuation.nu), []
        for knot in range(steps + 1):
            costs = crocoddyl.CostModelSum(state, actuation.nu)
            last = knot == steps
            if not last:  # the integrator multiplies running costs by the step: taken back, they are sums over knots
                residual = crocoddyl.ResidualModelControl(state, actuation.nu)
                costs.addCost("effort", crocoddyl.CostModelResidual(state, residual), 1 / effort**2 / self.step)
            for name, residual in asked.get(knot, {}).items():
                costs.addCost(name, crocoddyl.CostModelResidual(state, residual), 1.0)
                self.goals.append((costs, name, knot))
            dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
            models.append(crocoddyl.IntegratedActionModelEuler(dynamics, 0.0 if last else self.step))
        self.shooting = crocoddyl.ShootingProblem(start, models[:-1], models[-1])

    def weigh(self, weight):
        for costs, name, knot in self.goals:
            costs.costs[name].weight = weight if knot == self.steps else weight / self.step

    def miss(self, xs, us):
        self.shooting.calc(xs, us)
        datas = [*self.shooting.runningDatas, self.shooting.terminalData]
        return max(np.abs(datas[knot].differential.costs.costs[name].residual.r).max() for _, name, knot in self.goals)

    def solve(self, controls, limit):
        solver = crocoddyl.SolverFDDP(self.shooting)
        start, iterations, miss, weight = time.process_time(), 0, np.inf, FIRST_WEIGHT
        xs, us = [self.shooting.x0] * (self.steps + 1), controls
        while miss > NEAR and weight <= LAST_WEIGHT and time.process_time() - start < limit:
            self.weigh(weight)
            solver.solve(xs, us, MOST_ITERATIONS, False)
            iterations += solver.iter
            xs, us = list(solver.xs), list(solver.us)
            miss = self.miss(xs, us)
            weight *= 10
        spent = time.process_time() - start
        cost = 0.5 * sum(float(u @ u) for u in us) / self.effort**2
        return spent, iterations, cost, miss


def cart_pole(horizon, limit):
    robot = pin.buildModelFromUrdf(os.path.join(MODELS, "cart_pole.urdf"))
    robot.gravity.linear = np.array([0, 0, -9.8])
    pole, steps = robot.joints[2], round(100 * horizon)
    target = np.zeros(robot.nq + robot.nv)
    target[0] = 1
    if pole.nq == 2:  # a joint without limits is a point on the circle
        target[pole.idx_q] = -1
    else:
        target[pole.idx_q] = np.pi

    def goals(state, nu):
        return {steps: {"goal": crocoddyl.ResidualModelState(state, target, nu)}}

    rest = np.concatenate([pin.neutral(robot), np.zeros(robot.nv)])
    return Task(robot, FirstJoint, 20.0, goals, rest, steps, horizon).solve([np.zeros(1)] * steps, limit)


def main(limit):
    spent, iterations, cost, miss = cart_pole(2.0, limit)
    print(f"| cart_pole_swing_up.yaml | Crocoddyl {crocoddyl.__version__} | {spent:.3f} | {iterations} | {cost:.6f} | {miss:.1e} | "
          f"{'' if miss <= NEAR else 'goals not met'} |", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0)
