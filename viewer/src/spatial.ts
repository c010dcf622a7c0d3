// A robot in space, with WebGL.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { unpack, type Pose, type Shape, type SpatialScene } from "./data";
import { h } from "./dom";
import { extent, Poses } from "./poses";
import { roundLength, stride, type Layer, type Stage } from "./stage";
import { color, dark, onTheme, palette } from "./theme";

function place(object: THREE.Object3D, pose: ArrayLike<number>) {
  object.position.set(pose[0], pose[1], pose[2]);
  object.quaternion.set(pose[4], pose[5], pose[6], pose[3]);
}

/** One thick segment: a capsule from a to b. */
function rod(a: number[], b: number[], radius: number, material: THREE.Material): THREE.Mesh {
  const from = new THREE.Vector3(...a), to = new THREE.Vector3(...b), length = from.distanceTo(to);
  const mesh = new THREE.Mesh(new THREE.CapsuleGeometry(radius, length, 6, 16), material);
  mesh.position.copy(from).add(to).multiplyScalar(0.5);
  mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), to.sub(from).normalize());
  return mesh;
}

export class SpatialStage implements Stage {
  readonly element: HTMLElement;
  readonly kind = "webgl";
  readonly layers: Layer[];
  private renderer: THREE.WebGLRenderer;
  private world = new THREE.Scene();
  private camera = new THREE.PerspectiveCamera(38, 1, 0.001, 1000);
  private controls: OrbitControls;
  private poses: Poses;
  private groups: THREE.Group[] = [];
  private fixed = new THREE.Group();
  private frames = new THREE.Group();
  private forces = new THREE.Group();
  private arrowForces: ArrayLike<number>[];
  private largestForce = 0;
  private paths = new THREE.Group();
  private joints: THREE.Object3D[] = [];
  private tags: { element: HTMLElement; body: number; at: number[] }[] = [];
  private size: number;
  private middle: THREE.Vector3;
  private floor: number;
  private shade: THREE.Mesh<THREE.PlaneGeometry, THREE.ShadowMaterial>;
  private grid: THREE.GridHelper | null = null;
  private waiting = false;
  private moved = false; // by the reader: then it is left so when the page changes its size

  /** Throws where there is no WebGL. */
  constructor(private scene: SpatialScene) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    const slow = this.software();
    this.renderer.setPixelRatio(slow ? 1 : Math.min(2, window.devicePixelRatio || 1));
    this.renderer.shadowMap.enabled = !slow;
    const canvas = this.renderer.domElement;
    canvas.classList.add("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-label", "animation of the robot");
    this.element = h("div", { class: "stage-canvas" }, canvas);
    this.poses = new Poses(scene);
    this.arrowForces = scene.arrows.map((a) => unpack(a.f));
    const [low, high] = extent(scene, this.poses);
    this.middle = new THREE.Vector3(...[0, 1, 2].map((k) => (low[k] + high[k]) / 2));
    this.size = Math.max(0.05, Math.hypot(...[0, 1, 2].map((k) => high[k] - low[k])));
    this.floor = low[2] > 0.5 * this.size ? low[2] : Math.min(low[2], 0);
    this.layers = [
      ...(this.poses.times.length > 2 ? [{ key: "paths", label: "paths", on: !scene.discrete }] : []),
      { key: "joints", label: "joints", on: true },
      { key: "names", label: "names", on: false },
      { key: "frames", label: "frames", on: false },
    ];
    if (this.arrowForces.length) this.layers.push({ key: "forces", label: "forces", on: true });
    this.shade = new THREE.Mesh(new THREE.PlaneGeometry(20 * this.size, 20 * this.size), new THREE.ShadowMaterial());
    this.build();
    this.lights();
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.enableZoom = false; // the page scrolls until the drawing has been clicked
    canvas.addEventListener("focus", () => (this.controls.enableZoom = true));
    canvas.addEventListener("blur", () => (this.controls.enableZoom = false));
    canvas.addEventListener("dblclick", () => this.home());
    this.controls.addEventListener("change", () => this.render());
    this.controls.addEventListener("start", () => (this.moved = true));
    this.home();
    onTheme(() => this.colours());
    this.colours();
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  /** Whether the processor draws, for want of a graphics card: then shadows would cost seconds. */
  private software(): boolean {
    const gl = this.renderer.getContext(), info = gl.getExtension("WEBGL_debug_renderer_info");
    const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    return /swiftshader|llvmpipe|software/i.test(name);
  }

  // ---- what is drawn -----------------------------------------------------------------------------------------

  private build() {
    this.world.add(this.fixed, this.paths, this.forces, this.frames, this.shade);
    for (const _ of this.scene.bodies) {
      const group = new THREE.Group();
      this.groups.push(group);
      this.world.add(group);
    }
    const meshes = this.scene.meshes.map((m) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(unpack(m)), 3));
      geometry.computeVertexNormals();
      return geometry;
    });
    const shaped = new Set<number>();
    this.scene.links.forEach((link, i) => {
      const group = new THREE.Group();
      place(group, link.pose);
      for (const shape of link.shapes) {
        const mesh = this.shape(shape, i, meshes);
        if (mesh) group.add(mesh), shaped.add(link.body);
      }
      this.on(link.body).add(group);
      this.tag(link.name, link.body, [...link.pose.slice(0, 3)]);
      const axes = new THREE.AxesHelper(0.09 * this.size);
      const holder = new THREE.Group();
      place(axes, link.pose);
      holder.add(axes);
      holder.userData.body = link.body;
      this.frames.add(holder);
    });
    this.scene.lines.forEach((line) => {
      if (line.body < 0 || shaped.has(line.body)) return;
      this.on(line.body).add(rod(line.from, line.to, 0.008 * this.size, this.material(palette(line.body), 1, `body ${line.body}`)));
    });
    this.addJoints();
    this.addPaths();
    this.addForces();
    this.world.traverse((o) => {
      if (o instanceof THREE.Mesh && o !== this.shade) o.castShadow = o.receiveShadow = true;
    });
  }

  private on(body: number): THREE.Group {
    return body < 0 ? this.fixed : this.groups[body];
  }

  private material(hex: string | THREE.Color, opacity: number, key?: string) {
    const material = new THREE.MeshLambertMaterial({ color: hex });
    if (opacity < 0.999) material.transparent = true, (material.opacity = Math.max(0.15, opacity));
    material.side = THREE.DoubleSide;
    material.userData.key = key;
    return material;
  }

  private shape(shape: Shape, link: number, meshes: THREE.BufferGeometry[]): THREE.Object3D | null {
    const [a, b, c] = shape.size;
    let geometry: THREE.BufferGeometry;
    let upright = false;
    switch (shape.type) {
      case "box":
        geometry = new THREE.BoxGeometry(a, b, c);
        break;
      case "sphere":
        geometry = new THREE.SphereGeometry(a, 32, 20);
        break;
      case "ellipsoid":
        geometry = new THREE.SphereGeometry(1, 32, 20).scale(a, b, c);
        break;
      case "cylinder":
        geometry = new THREE.CylinderGeometry(a, a, b, 36);
        upright = true;
        break;
      case "capsule":
        geometry = new THREE.CapsuleGeometry(a, b, 10, 28);
        upright = true;
        break;
      case "mesh":
        if (shape.mesh === undefined || !meshes[shape.mesh]) return null;
        geometry = meshes[shape.mesh].clone().scale(a, b, c);
        break;
      default:
        return null;
    }
    if (upright) geometry.rotateX(Math.PI / 2); // three has cylinders along y
    const hex = shape.color ? new THREE.Color().setRGB(shape.color[0], shape.color[1], shape.color[2], THREE.SRGBColorSpace) : palette(link);
    const mesh = new THREE.Mesh(geometry, this.material(hex, shape.color?.[3] ?? 1, shape.color ? undefined : `link ${link}`));
    place(mesh, shape.pose);
    return mesh;
  }

  private addJoints() {
    const r = 0.011 * this.size;
    for (const joint of this.scene.joints) {
      const axis = new THREE.Vector3(...joint.axis).normalize(), ball = joint.type === "ball" || joint.type === "floating";
      if (joint.type === "floating") continue;
      const geometry = ball ? new THREE.SphereGeometry(1.3 * r, 20, 14) : new THREE.CylinderGeometry(0.55 * r, 0.55 * r, 7 * r, 20);
      const mesh = new THREE.Mesh(geometry, this.material("#888888", 1, "joint"));
      mesh.position.set(...joint.at);
      if (!ball) mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), axis);
      this.on(joint.body).add(mesh);
      this.joints.push(mesh);
    }
  }

  private addPaths() {
    const frames = this.poses.times.length, each = stride(frames, 1500);
    if (frames < 3) return;
    this.scene.tips.forEach((tip) => {
      const points: THREE.Vector3[] = [];
      for (let k = 0; k < frames; k += each) points.push(new THREE.Vector3(...this.poses.point(k, tip.body, tip.at)));
      const geometry = new THREE.BufferGeometry().setFromPoints(points);
      const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ transparent: true, opacity: 0.75 }));
      this.paths.add(line);
    });
  }

  private addForces() {
    for (const list of this.arrowForces) {
      for (let i = 0; i + 2 < list.length; i += 3) this.largestForce = Math.max(this.largestForce, Math.hypot(list[i], list[i + 1], list[i + 2]) || 0);
      this.forces.add(new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), 1));
    }
  }

  private tag(name: string, body: number, at: number[]) {
    const element = h("span", { class: "tag" }, name);
    this.tags.push({ element, body, at });
    this.element.append(element);
  }

  private lights() {
    this.world.add(new THREE.HemisphereLight("#ffffff", "#8894a6", 1.7));
    const sun = new THREE.DirectionalLight("#ffffff", 2.2), reach = 0.9 * this.size;
    sun.position.copy(this.middle).add(new THREE.Vector3(0.6, -0.8, 1.5).multiplyScalar(1.4 * this.size));
    sun.target.position.copy(this.middle);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.bias = -0.0004;
    sun.shadow.normalBias = 0.002 * this.size;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01 * this.size, far: 6 * this.size });
    this.world.add(sun, sun.target);
    this.shade.position.z = this.floor;
    this.shade.receiveShadow = true;
  }

  private colours() {
    this.shade.material.opacity = dark() ? 0.45 : 0.16;
    if (this.grid) this.world.remove(this.grid);
    const step = roundLength(this.size / 8), cells = 2 * Math.ceil((1.2 * this.size) / step);
    this.grid = new THREE.GridHelper(cells * step, cells, color("grid-strong"), color("grid"));
    this.grid.rotation.x = Math.PI / 2;
    this.grid.position.set(Math.round(this.middle.x / step) * step, Math.round(this.middle.y / step) * step, this.floor - 0.001 * this.size);
    this.world.add(this.grid);
    this.paths.children.forEach((line, i) => ((line as THREE.Line).material as THREE.LineBasicMaterial).color.set(palette(i + 1)));
    this.world.traverse((o) => {
      if (!(o instanceof THREE.Mesh)) return;
      const material = o.material as THREE.MeshLambertMaterial, key = material.userData?.key as string | undefined;
      if (!key) return;
      if (key === "joint") material.color.set(dark() ? "#c9d1dc" : "#39414d");
      else material.color.set(palette(Number(key.split(" ")[1])));
    });
    for (const arrow of this.forces.children as THREE.ArrowHelper[]) arrow.setColor(color("force"));
    this.render();
  }

  // ---- moving ------------------------------------------------------------------------------------------------

  draw(t: number) {
    this.poses.at(t);
    this.show(this.poses.now, true);
  }

  pose(numbers: Float64Array) {
    this.poses.now.set(numbers);
    this.show(numbers, false);
  }

  private show(now: Float64Array, recorded: boolean) {
    this.groups.forEach((group, b) => place(group, now.subarray(7 * b, 7 * b + 7) as unknown as Pose));
    for (const holder of this.frames.children) {
      const body = holder.userData.body as number;
      if (body >= 0) place(holder, now.subarray(7 * body, 7 * body + 7));
    }
    if (recorded) this.moveForces();
    this.render();
  }

  private moveForces() {
    (this.forces.children as THREE.ArrowHelper[]).forEach((arrow, i) => {
      const given = this.scene.arrows[i], list = this.arrowForces[i], k = 3 * this.poses.frame;
      const force = new THREE.Vector3(list[k], list[k + 1], list[k + 2]), size = force.length();
      arrow.visible = size > 1e-3 * this.largestForce;
      if (!arrow.visible) return;
      const length = (0.28 * this.size * size) / this.largestForce;
      arrow.position.set(...this.poses.here(given.body, given.at));
      arrow.setDirection(force.divideScalar(size));
      arrow.setLength(length, Math.min(0.04 * this.size, 0.4 * length), Math.min(0.02 * this.size, 0.2 * length));
    });
  }

  home() {
    this.moved = false;
    const narrow = Math.max(1, 1 / (this.camera.aspect || 1));
    const away = (narrow * this.size) / (2 * Math.sin((this.camera.fov * Math.PI) / 360)); // a ball around all fits
    this.controls.target.copy(this.middle);
    this.camera.near = away / 100;
    this.camera.far = away * 40;
    this.camera.position.copy(this.middle).add(new THREE.Vector3(0.75, -1, 0.5).normalize().multiplyScalar(away));
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.render();
  }

  private fit() {
    const { clientWidth: w, clientHeight: k } = this.element;
    if (!w || !k) return;
    this.renderer.setSize(w, k, false);
    this.camera.aspect = w / k;
    this.camera.updateProjectionMatrix();
    if (!this.moved) this.home();
    this.redraw();
  }

  redraw() {
    const shown = (key: string) => this.layers.some((l) => l.key === key && l.on);
    this.paths.visible = shown("paths");
    this.forces.visible = shown("forces");
    this.frames.visible = shown("frames");
    for (const joint of this.joints) joint.visible = shown("joints");
    const tags = shown("names");
    for (const tag of this.tags) tag.element.hidden = !tags;
    this.render();
  }

  /** At most once per frame of the screen. */
  private render() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.renderer.render(this.world, this.camera);
      if (this.tags.some((t) => !t.element.hidden)) this.moveTags();
    });
  }

  private moveTags() {
    const { clientWidth: w, clientHeight: k } = this.element;
    const taken: [number, number][] = [];
    for (const tag of this.tags) {
      const p = new THREE.Vector3(...this.poses.here(tag.body, tag.at)).project(this.camera);
      const x = ((p.x + 1) / 2) * w;
      let y = ((1 - p.y) / 2) * k;
      for (let tries = 0; tries < 12 && taken.some(([a, b]) => Math.abs(a - x) < 80 && Math.abs(b - y) < 15); ++tries) y += 15;
      taken.push([x, y]);
      tag.element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }
}
