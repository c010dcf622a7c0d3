// The reports that the test opens: one per verb, on models of the project and on one that tries to be a script.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const evil = "<script>alert(1)</script>";

/** Runs the program; its messages are shown if it fails. */
function run(program, words) {
  try {
    return execFileSync(program, [...words, "--quiet"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (fault) {
    throw new Error(`kinegraph ${words.join(" ")}\n${fault.stderr}`);
  }
}

function table(file, names, rows) {
  writeFileSync(file, [["t", ...names], ...rows].map((row) => row.join(",")).join("\n") + "\n");
}

const evilRobot = `<robot name="evil">
  <link name="world"/>
  <link name="${evil.replace(/</g, "&lt;").replace(/>/g, "&gt;")}">
    <inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.05 0.05"/></geometry></visual>
  </link>
  <joint name="hinge" type="continuous"><parent link="world"/><child link="${evil.replace(/</g, "&lt;").replace(/>/g, "&gt;")}"/><axis xyz="0 1 0"/></joint>
</robot>
`;

/** All reports in `out`, made by `program`: [{name, file, verb, moves, bytes}]. */
export function makeReports(program, models, out) {
  mkdirSync(out, { recursive: true });
  const at = (name) => join(out, name), model = (name) => join(models, name);
  const reports = [];
  const make = (name, words, traits = {}) => {
    const file = at(`${name}.html`);
    run(program, [...words, "--report", file]);
    reports.push({ name, file, verb: words[0], moves: true, bytes: statSync(file).size, ...traits });
  };

  make("simulate_planar", ["simulate", model("fourbar.yaml"), "--time", "3", "--reactions"]);
  make("simulate_robot", ["simulate", model("arm7.urdf"), "--time", "2", "--set", "joint2.q=50deg", "--set", "joint4.q=-60deg", "--reactions"]);
  make("simulate_maximal", ["simulate", model("fourbar_friction.yaml"), "--time", "2"]);
  make("simulate_floating", ["simulate", model("quadruped.urdf"), "--base", "floating", "--time", "0.5"]);
  make("simulate_loop", ["simulate", model("five_bar.sdf"), "--time", "2", "--reactions"]);
  make("simulate_slider", ["simulate", model("slider_crank.yaml"), "--time", "2"]);
  make("long_run", ["simulate", model("fourbar.yaml"), "--time", "60", "--step", "1ms", "--reactions"], { long: true });

  make("kinematics_move", ["kinematics", model("fourbar.yaml"), "--move", "theta.q=0:360deg"]);
  make("kinematics_branches", ["kinematics", model("fourbar.yaml"), "--branches"]);
  make("kinematics_goal", ["kinematics", model("arm7.urdf"), "--goal", "tool: x=0.4 y=0.1 z=0.6"], { moves: false });

  const swing = Array.from({ length: 301 }, (_, i) => [i / 100, 1.2 * (1 - Math.cos(i / 50))]);
  table(at("swing.csv"), ["theta.q"], swing);
  make("inverse_planar", ["inverse", model("fourbar.yaml"), "--motion", at("swing.csv"), "--reactions"]);
  table(at("arm.csv"), [1, 2, 3].map((j) => `joint${j}.q`), swing.map(([t]) => [t, ...[1, 2, 3].map((j) => (0.4 / j) * (1 - Math.cos(2 * t)))]));
  make("inverse_robot", ["inverse", model("three_r.urdf"), "--motion", at("arm.csv"), "--reactions"]);
  make("hybrid", ["hybrid", model("five_bar.sdf"), "--known", model("five_bar_known.csv")]);

  run(program, ["simulate", model("fourbar_gyro.yaml"), "--time", "2", "--sensors", at("gyro.csv"), "--out", at("truth.csv")]);
  make("estimate", ["estimate", model("fourbar_gyro.yaml"), "--log", at("gyro.csv"), "--beside", at("truth.csv")]);
  const rows = readFileSync(at("gyro.csv"), "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
  table(at("gyro_alone.csv"), ["gyro.w"], rows.filter((row) => row[1]).map((row) => row.slice(0, 2)));
  make("estimate_branches", ["estimate", model("fourbar_gyro.yaml"), "--log", at("gyro_alone.csv"), "--filter", "particle", "--start", "unknown"]);
  run(program, ["simulate", model("rubbing_pendulum.yaml"), "--formulation", "maximal", "--time", "6", "--sensors", at("rubbing.csv")]);
  make("identify", ["identify", model("rubbing_pendulum.yaml"), "--log", at("rubbing.csv"), "--set", "O.viscous=0.001", "--set", "O.dry=0.005", "--set", "bar.I0=0.04", "--free", "O.viscous,O.dry,bar.I0"]);

  make("plan", ["plan", model("tasks/cart_pole_swing_up.yaml")]);
  make("plan_contacts", ["plan", model("tasks/quadruped_step.yaml")], { timing: 4 });

  make("graph", ["graph", model("three_r.urdf"), "--problem", "inverse", "--ordering", "rnea", "--show", "dag"], { moves: false });
  make("check", ["check", model("arm7.urdf")], { moves: false });
  make("view_planar", ["view", model("fourbar.yaml")], { moves: false, sliders: true });
  make("view_robot", ["view", model("arm7.urdf")], { moves: false, sliders: true });
  make("view_loop", ["view", model("five_bar.sdf")], { moves: false, sliders: true });

  writeFileSync(at("evil.urdf"), evilRobot);
  make("evil_robot", ["simulate", at("evil.urdf"), "--time", "1"], { evil: true });
  writeFileSync(at("evil.yaml"), readFileSync(model("fourbar.yaml"), "utf8").replace(/^name: .*$/m, `name: "${evil}"`));
  make("evil_planar", ["simulate", at("evil.yaml"), "--time", "1"], { evil: true });
  return reports;
}
