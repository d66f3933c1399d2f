import '@xyflow/react/dist/base.css';
import { useElementSize } from '@mantine/hooks';
import {
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useReactFlow,
  type Viewport,
} from '@xyflow/react';
import { useEffect, useMemo } from 'react';
import { type GraphEdge, layoutGraph, nodeSize } from '../../../data/workflows/graph-layout.ts';
import type { GraphStep } from '../../../data/workflows/workflow-graph.ts';
import classes from './graph.module.css';
import type { GraphProps, StepState } from './graph.tsx';

/** Below this width of its place the graph runs from top to bottom. */
const narrowBelowPx = 640;
const paddingPx = 20;
const heightMaxPx = 600;
/** Smaller text would not be readable; the graph is then moved by dragging. */
const zoomMin = 0.7;

type StepNode = Node<NodeData, 'step'>;

interface NodeData extends Record<string, unknown> {
  readonly step: GraphStep;
  readonly agent: string;
  readonly state: StepState | undefined;
  readonly isChosen: boolean;
  readonly isVertical: boolean;
  readonly onChoose: () => void;
}

/** Each step is a button that names what it waits for, in execution order for keyboard and screen reader users. */
export default function StepGraph(props: GraphProps) {
  const { steps, label } = props;
  const { ref, width } = useElementSize<HTMLElement>();
  const isVertical = width < narrowBelowPx;
  const layout = useMemo(() => layoutGraph(steps, isVertical ? 'TB' : 'LR'), [steps, isVertical]);
  const { viewport, heightPx, fits } = fit(layout, width);
  return (
    <section
      ref={ref}
      className={classes.frame}
      aria-label={label}
      data-fits={fits || undefined}
      style={{ height: heightPx }}
    >
      {width > 0 && (
        <ReactFlow
          nodes={nodesOf(props, layout, isVertical)}
          edges={edgesOf(props, layout, isVertical)}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          defaultViewport={viewport}
          minZoom={0.2}
          maxZoom={1.5}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          defaultMarkerColor={null}
          deleteKeyCode={null}
          selectionKeyCode={null}
          panOnDrag={!fits}
          zoomOnPinch={!fits}
          zoomOnScroll={false}
          zoomOnDoubleClick={false}
          preventScrolling={false}
          proOptions={{ hideAttribution: true }}
        >
          {!fits && <Controls showInteractive={false} />}
          <Fit viewport={viewport} />
        </ReactFlow>
      )}
    </section>
  );
}

/** Shows the whole graph in the middle, or its start as large as is readable. */
function fit({ width, height }: Layout, placePx: number) {
  const fitting = Math.min(
    1,
    (placePx - 2 * paddingPx) / Math.max(1, width),
    (heightMaxPx - 2 * paddingPx) / Math.max(1, height),
  );
  const zoom = Math.max(zoomMin, fitting);
  const heightPx = Math.min(heightMaxPx, height * zoom + 2 * paddingPx);
  const x = Math.max(paddingPx, (placePx - width * zoom) / 2);
  return { viewport: { x, y: paddingPx, zoom }, heightPx, fits: fitting >= zoomMin };
}

/** Moves the view whenever the graph or its place has another shape. */
function Fit({ viewport: { x, y, zoom } }: { readonly viewport: Viewport }) {
  const { setViewport } = useReactFlow();
  useEffect(() => void setViewport({ x, y, zoom }), [x, y, zoom, setViewport]);
  return null;
}

type Layout = ReturnType<typeof layoutGraph>;

function nodesOf(props: GraphProps, { nodes }: Layout, isVertical: boolean): StepNode[] {
  const { nameOf, chosen, onChoose, stateOf } = props;
  return nodes.map(({ step, x, y }) => {
    const { agentId, agentName } = step;
    const agent = agentName ?? (agentId === null ? undefined : (nameOf(agentId) ?? agentId));
    return {
      id: String(step.index),
      type: 'step',
      position: { x, y },
      ...nodeSize,
      // Known beforehand: measuring would hide the edges for a moment at each change.
      measured: nodeSize,
      handles: isVertical ? handles.vertical : handles.horizontal,
      ariaRole: 'group',
      data: {
        step,
        agent: agent ?? 'No agent',
        state: stateOf?.(step),
        isChosen: step.index === chosen,
        isVertical,
        onChoose: () => onChoose(step),
      },
    };
  });
}

const { width, height } = nodeSize;
const dot = { width: 1, height: 1 } as const;
const handles = {
  horizontal: [
    { type: 'target', position: Position.Left, x: 0, y: height / 2, ...dot },
    { type: 'source', position: Position.Right, x: width - 1, y: height / 2, ...dot },
  ],
  vertical: [
    { type: 'target', position: Position.Top, x: width / 2, y: 0, ...dot },
    { type: 'source', position: Position.Bottom, x: width / 2, y: height - 1, ...dot },
  ],
} satisfies Record<string, StepNode['handles']>;

type RoutedEdge = Edge<
  { readonly waypoints: GraphEdge['waypoints']; readonly isVertical: boolean },
  'routed'
>;

function edgesOf({ steps, chosen }: GraphProps, { edges }: Layout, isVertical: boolean) {
  return edges.map(
    ({ from, to, waypoints }): RoutedEdge => ({
      id: `${from}-${to}`,
      source: String(from),
      target: String(to),
      type: 'routed',
      data: { waypoints, isVertical },
      ariaLabel: `${steps[from]?.name} before ${steps[to]?.name}`,
      markerEnd: { type: MarkerType.ArrowClosed },
      className: from === chosen || to === chosen ? (classes.chosenEdge ?? '') : '',
    }),
  );
}

function StepBox({ data }: NodeProps<StepNode>) {
  const { step, agent, state, isChosen, isVertical, onChoose } = data;
  return (
    <>
      <Handle type="target" position={isVertical ? Position.Top : Position.Left} />
      <button
        type="button"
        className={classes.step}
        aria-pressed={isChosen}
        data-tone={state?.tone}
        onClick={onChoose}
      >
        <span className={classes.head}>
          <strong>{step.name}</strong>
          {state?.badge}
        </span>
        <span className={classes.agent}>{agent}</span>
        {state?.items ? (
          <span className={`${classes.items} warn-note`}>{state.items}</span>
        ) : (
          <span className={classes.marks}>
            {step.marks.map((mark) => (
              <span key={mark}>{mark}</span>
            ))}
          </span>
        )}
        <span className="visually-hidden">{dependencyText(step)}</span>
      </button>
      <Handle type="source" position={isVertical ? Position.Bottom : Position.Right} />
    </>
  );
}

const nodeTypes = { step: StepBox };

/** Curves from layer to layer, past the steps in between. */
function Routed({ sourceX, sourceY, targetX, targetY, data, markerEnd }: EdgeProps<RoutedEdge>) {
  const points = [
    { x: sourceX, y: sourceY },
    ...(data?.waypoints ?? []),
    { x: targetX, y: targetY },
  ];
  const path = points.map(({ x, y }, at) => {
    const from = points[at - 1];
    if (!from) return `M${x} ${y}`;
    const [midX, midY] = [(from.x + x) / 2, (from.y + y) / 2];
    return data?.isVertical
      ? `C${from.x} ${midY} ${x} ${midY} ${x} ${y}`
      : `C${midX} ${from.y} ${midX} ${y} ${x} ${y}`;
  });
  return <BaseEdge path={path.join('')} {...(markerEnd !== undefined && { markerEnd })} />;
}

const edgeTypes = { routed: Routed };

function dependencyText({ dependencies }: GraphStep): string {
  const names = dependencies.map(({ name }) => name);
  return names.length === 0 ? 'starts immediately' : `waits for ${names.join(', ')}`;
}
