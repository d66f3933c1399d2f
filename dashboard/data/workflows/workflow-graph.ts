import type { WorkflowDefinition, WorkflowStep } from './workflows.ts';

/**
 * Dependencies between steps and a layered layout of them, left to right. It must find the same references as the
 * server.
 */

/** The steps a step depends on, by reference or by `after`, each once. */
export function waitsFor(step: WorkflowStep, names: ReadonlySet<string>): string[] {
  const found = [
    ...step.after,
    ...referredTo([step.variables, step.forEach?.list, step.fallback]),
    ...(step.when === null ? [] : inCondition(step.when)),
  ];
  return [...new Set(found)].filter((name) => names.has(name) && name !== step.name);
}

const reference = /\{\{[ \t]*steps\.([A-Za-z_][A-Za-z0-9_]*)\.output/g;

function referredTo(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(reference)].map(([, name = '']) => name);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(referredTo);
}

/** Quoted text is not a reference, except in `steps["name"]`. */
function inCondition(when: string): string[] {
  const indexed = [...when.matchAll(/\bsteps\[\s*(["'])(\w+)\1\s*\]/g)].map(
    ([, , name = '']) => name,
  );
  const bare = when.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');
  return [...indexed, ...[...bare.matchAll(/\bsteps\.(\w+)/g)].map(([, name = '']) => name)];
}

export interface PlacedStep {
  readonly step: WorkflowStep;
  readonly waitsFor: readonly string[];
  readonly x: number;
  readonly y: number;
}

export interface GraphPicture {
  /** In execution order. */
  readonly steps: readonly PlacedStep[];
  /** The points of each edge, from the dependency to the dependent step. */
  readonly lines: readonly {
    readonly from: string;
    readonly to: string;
    readonly points: readonly (readonly [number, number])[];
  }[];
  readonly width: number;
  readonly height: number;
}

export const box = { width: 188, height: 76 } as const;
const gap = { x: 52, y: 20 } as const;

export function pictureOf({ steps }: Pick<WorkflowDefinition, 'steps'>): GraphPicture {
  const names = new Set(steps.map(({ name }) => name));
  const waits = new Map(steps.map((step) => [step.name, waitsFor(step, names)]));
  const depths = depthsOf(waits);
  const { layers, chains } = layersOf(waits, depths);
  for (let turn = 0; turn < 4; turn++) sortLayers(layers, turn % 2 === 0);
  const tall = Math.max(...layers.map(heightOf));
  const places = new Map<string, { x: number; y: number }>();
  for (const [depth, layer] of layers.entries()) {
    let y = (tall - heightOf(layer)) / 2;
    for (const knot of layer) {
      places.set(knot.name, { x: depth * (box.width + gap.x), y: y + sizeOf(knot) / 2 });
      y += sizeOf(knot) + gap.y;
    }
  }
  const at = (name: string) => places.get(name) ?? { x: 0, y: 0 };
  const placed = steps.map((step) => {
    const { x, y } = at(step.name);
    return { step, waitsFor: waits.get(step.name) ?? [], x, y: y - box.height / 2 };
  });
  return {
    steps: placed.toSorted((one, other) => one.x - other.x || one.y - other.y),
    lines: chains.map((chain) => ({
      from: chain[0] ?? '',
      to: chain.at(-1) ?? '',
      points: pointsOf(chain, at),
    })),
    width: layers.length * (box.width + gap.x) - gap.x,
    height: tall,
  };
}

/** The layer of each step. Steps of a cycle, which is never saved, go to the first layer. */
function depthsOf(waits: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const depths = new Map<string, number>();
  const depthOf = (name: string, before: readonly string[]): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    if (before.includes(name)) return 0;
    const others = waits.get(name) ?? [];
    const depth = Math.max(-1, ...others.map((one) => depthOf(one, [...before, name]))) + 1;
    depths.set(name, depth);
    return depth;
  };
  for (const name of waits.keys()) depthOf(name, []);
  return depths;
}

/** A step, or a waypoint where an edge crosses a layer. */
interface Knot {
  readonly name: string;
  readonly isStep: boolean;
  readonly before: Knot[];
  readonly after: Knot[];
}

function layersOf(
  waits: ReadonlyMap<string, readonly string[]>,
  depths: ReadonlyMap<string, number>,
) {
  const layers: Knot[][] = Array.from({ length: Math.max(0, ...depths.values()) + 1 }, () => []);
  const knots = new Map<string, Knot>();
  const add = (name: string, depth: number, isStep: boolean): Knot => {
    const knot = { name, isStep, before: [], after: [] };
    layers[depth]?.push(knot);
    knots.set(name, knot);
    return knot;
  };
  for (const name of waits.keys()) add(name, depths.get(name) ?? 0, true);
  const chains: string[][] = [];
  for (const [to, others] of waits) {
    for (const from of others) {
      const chain = [from];
      for (let depth = (depths.get(from) ?? 0) + 1; depth < (depths.get(to) ?? 0); depth++) {
        const name = `${from} ${to} ${depth}`;
        add(name, depth, false);
        chain.push(name);
      }
      chain.push(to);
      chains.push(chain);
      for (const [place, name] of chain.slice(1).entries()) {
        const [one, other] = [knots.get(chain[place] ?? ''), knots.get(name)];
        if (one && other) {
          one.after.push(other);
          other.before.push(one);
        }
      }
    }
  }
  return { layers, chains };
}

/** Orders each layer by the mean position of its adjacent nodes to reduce crossings (barycenter heuristic). */
function sortLayers(layers: Knot[][], forwards: boolean): void {
  for (const layer of forwards ? layers : layers.toReversed()) {
    const rows = new Map(layers.flatMap((one) => one.map((knot, row) => [knot, middle(one, row)])));
    const wish = (knot: Knot) => {
      const joined = forwards ? knot.before : knot.after;
      if (joined.length === 0) return rows.get(knot) ?? 0;
      return joined.reduce((sum, one) => sum + (rows.get(one) ?? 0), 0) / joined.length;
    };
    const wishes = new Map(layer.map((knot) => [knot, wish(knot)]));
    layer.sort((one, other) => (wishes.get(one) ?? 0) - (wishes.get(other) ?? 0));
  }
}

const middle = (layer: readonly Knot[], row: number) => row - (layer.length - 1) / 2;

const sizeOf = ({ isStep }: Knot) => (isStep ? box.height : 0);

function heightOf(layer: readonly Knot[]): number {
  return layer.reduce((sum, knot) => sum + sizeOf(knot) + gap.y, -gap.y);
}

function pointsOf(
  chain: readonly string[],
  at: (name: string) => { readonly x: number; readonly y: number },
): (readonly [number, number])[] {
  return chain.flatMap((name, place): (readonly [number, number])[] => {
    const { x, y } = at(name);
    const left = [x, y] as const;
    const right = [x + box.width, y] as const;
    if (place === 0) return [right];
    return place === chain.length - 1 ? [left] : [left, right];
  });
}
