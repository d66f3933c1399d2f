import { Graph, layout } from '@dagrejs/dagre';
import type { GraphStep } from './workflow-graph.ts';

/** Positions of steps in layers, by dagre. */

export const nodeSize = { width: 188, height: 76 } as const;

/** `LR` is left to right, `TB` top to bottom. */
export type Direction = 'LR' | 'TB';

export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  /** The points past other steps, if it crosses their layers. */
  readonly waypoints: readonly { readonly x: number; readonly y: number }[];
}

export interface GraphLayout {
  /** In execution order: by layer, then within the layer. */
  readonly nodes: readonly { readonly step: GraphStep; readonly x: number; readonly y: number }[];
  readonly edges: readonly GraphEdge[];
  readonly width: number;
  readonly height: number;
}

export function layoutGraph(steps: readonly GraphStep[], direction: Direction): GraphLayout {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, nodesep: 20, ranksep: 52 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { index } of steps) graph.setNode(String(index), { ...nodeSize });
  const pairs = steps.flatMap((step) =>
    step.dependencies.map(({ index: from }) => ({ from, to: step.index })),
  );
  for (const { from, to } of pairs) graph.setEdge(String(from), String(to));
  layout(graph);
  const edges = pairs.map(({ from, to }) => {
    // The first and the last point are at the boxes; an edge to the next layer has one more, in the middle.
    const inner = (graph.edge(String(from), String(to)).points ?? []).slice(1, -1);
    return { from, to, waypoints: inner.length > 1 ? inner : [] };
  });
  const nodes = steps.map((step) => {
    // dagre gives the centre.
    const { x, y } = graph.node(String(step.index));
    return { step, x: x - nodeSize.width / 2, y: y - nodeSize.height / 2 };
  });
  const along = direction === 'LR' ? 'x' : 'y';
  const across = direction === 'LR' ? 'y' : 'x';
  return {
    nodes: nodes.toSorted((a, b) => a[along] - b[along] || a[across] - b[across]),
    edges,
    width: Math.max(0, ...nodes.map(({ x }) => x + nodeSize.width)),
    height: Math.max(0, ...nodes.map(({ y }) => y + nodeSize.height)),
  };
}
