import type { WorkflowDefinition, WorkflowStep } from './workflows.ts';

/**
 * Dependencies between steps and a layered layout of them, left to right. It must find the same references as the
 * server.
 */

/** The steps a step depends on, by reference or by `after`, each once. */
export function dependenciesOf(step: WorkflowStep, names: ReadonlySet<string>): string[] {
  const found = [
    ...step.after,
    ...templateReferences([step.variables, step.forEach?.list, step.fallback]),
    ...(step.when === null ? [] : conditionReferences(step.when)),
  ];
  return [...new Set(found)].filter((name) => names.has(name) && name !== step.name);
}

const reference = /\{\{[ \t]*steps\.([A-Za-z_][A-Za-z0-9_]*)\.output/g;

function templateReferences(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(reference)].map(([, name = '']) => name);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(templateReferences);
}

/** Quoted text is not a reference, except in `steps["name"]`. */
function conditionReferences(when: string): string[] {
  const indexed = [...when.matchAll(/\bsteps\[\s*(["'])(\w+)\1\s*\]/g)].map(
    ([, , name = '']) => name,
  );
  const bare = when.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');
  return [...indexed, ...[...bare.matchAll(/\bsteps\.(\w+)/g)].map(([, name = '']) => name)];
}

export interface PositionedStep {
  readonly step: WorkflowStep;
  readonly dependencies: readonly string[];
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  /** In execution order. */
  readonly steps: readonly PositionedStep[];
  /** The points of each edge, from the dependency to the dependent step. */
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly points: readonly (readonly [number, number])[];
  }[];
  readonly width: number;
  readonly height: number;
}

export const nodeSize = { width: 188, height: 76 } as const;
const nodeGap = { x: 52, y: 20 } as const;

export function layoutGraph({ steps }: Pick<WorkflowDefinition, 'steps'>): GraphLayout {
  const names = new Set(steps.map(({ name }) => name));
  const dependencyMap = new Map(steps.map((step) => [step.name, dependenciesOf(step, names)]));
  const depths = depthsOf(dependencyMap);
  const { layers, chains } = layersOf(dependencyMap, depths);
  for (let pass = 0; pass < 4; pass++) sortLayers(layers, pass % 2 === 0);
  const height = Math.max(...layers.map(heightOf));
  const positions = new Map<string, { x: number; y: number }>();
  for (const [depth, layer] of layers.entries()) {
    let y = (height - heightOf(layer)) / 2;
    for (const node of layer) {
      positions.set(node.name, {
        x: depth * (nodeSize.width + nodeGap.x),
        y: y + sizeOf(node) / 2,
      });
      y += sizeOf(node) + nodeGap.y;
    }
  }
  const at = (name: string) => positions.get(name) ?? { x: 0, y: 0 };
  const positioned = steps.map((step) => {
    const { x, y } = at(step.name);
    return {
      step,
      dependencies: dependencyMap.get(step.name) ?? [],
      x,
      y: y - nodeSize.height / 2,
    };
  });
  return {
    steps: positioned.toSorted((one, other) => one.x - other.x || one.y - other.y),
    edges: chains.map((chain) => ({
      from: chain[0] ?? '',
      to: chain.at(-1) ?? '',
      points: pointsOf(chain, at),
    })),
    width: layers.length * (nodeSize.width + nodeGap.x) - nodeGap.x,
    height,
  };
}

/** The layer of each step. Steps of a cycle, which is never saved, go to the first layer. */
function depthsOf(dependencyMap: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const depths = new Map<string, number>();
  const depthOf = (name: string, before: readonly string[]): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    if (before.includes(name)) return 0;
    const others = dependencyMap.get(name) ?? [];
    const depth = Math.max(-1, ...others.map((one) => depthOf(one, [...before, name]))) + 1;
    depths.set(name, depth);
    return depth;
  };
  for (const name of dependencyMap.keys()) depthOf(name, []);
  return depths;
}

/** A step, or a waypoint where an edge crosses a layer. */
interface LayoutNode {
  readonly name: string;
  readonly isStep: boolean;
  readonly before: LayoutNode[];
  readonly after: LayoutNode[];
}

function layersOf(
  dependencyMap: ReadonlyMap<string, readonly string[]>,
  depths: ReadonlyMap<string, number>,
) {
  const layers: LayoutNode[][] = Array.from(
    { length: Math.max(0, ...depths.values()) + 1 },
    () => [],
  );
  const nodes = new Map<string, LayoutNode>();
  const add = (name: string, depth: number, isStep: boolean): LayoutNode => {
    const node = { name, isStep, before: [], after: [] };
    layers[depth]?.push(node);
    nodes.set(name, node);
    return node;
  };
  for (const name of dependencyMap.keys()) add(name, depths.get(name) ?? 0, true);
  const chains: string[][] = [];
  for (const [to, others] of dependencyMap) {
    for (const from of others) {
      const chain = [from];
      for (let depth = (depths.get(from) ?? 0) + 1; depth < (depths.get(to) ?? 0); depth++) {
        const name = `${from} ${to} ${depth}`;
        add(name, depth, false);
        chain.push(name);
      }
      chain.push(to);
      chains.push(chain);
      for (const [index, name] of chain.slice(1).entries()) {
        const [one, other] = [nodes.get(chain[index] ?? ''), nodes.get(name)];
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
function sortLayers(layers: LayoutNode[][], forwards: boolean): void {
  for (const layer of forwards ? layers : layers.toReversed()) {
    const rows = new Map(layers.flatMap((one) => one.map((node, row) => [node, middle(one, row)])));
    const preferredRow = (node: LayoutNode) => {
      const adjacent = forwards ? node.before : node.after;
      if (adjacent.length === 0) return rows.get(node) ?? 0;
      return adjacent.reduce((sum, one) => sum + (rows.get(one) ?? 0), 0) / adjacent.length;
    };
    const preferredRows = new Map(layer.map((node) => [node, preferredRow(node)]));
    layer.sort((one, other) => (preferredRows.get(one) ?? 0) - (preferredRows.get(other) ?? 0));
  }
}

const middle = (layer: readonly LayoutNode[], row: number) => row - (layer.length - 1) / 2;

const sizeOf = ({ isStep }: LayoutNode) => (isStep ? nodeSize.height : 0);

function heightOf(layer: readonly LayoutNode[]): number {
  return layer.reduce((sum, node) => sum + sizeOf(node) + nodeGap.y, -nodeGap.y);
}

function pointsOf(
  chain: readonly string[],
  at: (name: string) => { readonly x: number; readonly y: number },
): (readonly [number, number])[] {
  return chain.flatMap((name, index): (readonly [number, number])[] => {
    const { x, y } = at(name);
    const left = [x, y] as const;
    const right = [x + nodeSize.width, y] as const;
    if (index === 0) return [right];
    return index === chain.length - 1 ? [left] : [left, right];
  });
}
