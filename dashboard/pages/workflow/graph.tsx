import type { ReactNode } from 'react';
import {
  type GraphLayout,
  nodeSize,
  type PositionedStep,
} from '../../data/workflows/workflow-graph.ts';
import type { WorkflowStep } from '../../data/workflows/workflows.ts';
import classes from './graph.module.css';

/**
 * The steps as boxes in layers, connected by dependency edges. Keyboard and screen reader users get a list of buttons
 * in execution order, each naming its dependencies.
 */
export function Graph(props: {
  readonly layout: GraphLayout;
  readonly label: string;
  readonly nameOf: (agentId: string) => string | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (step: string) => void;
  /** The state of each step of a workflow run. */
  readonly stateOf?: (step: string) => { readonly tone: string; readonly badge: ReactNode };
}) {
  const { layout, nameOf, chosen, onChoose, stateOf } = props;
  const { steps, edges, width, height } = layout;
  return (
    <section className={classes.frame} aria-label={props.label}>
      <div className={classes.layout} style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true" focusable="false">
          {edges.map(({ from, to, points }) => (
            <path
              key={`${from} ${to}`}
              d={curve(points)}
              data-chosen={from === chosen || to === chosen || undefined}
            />
          ))}
        </svg>
        <ol>
          {steps.map((positioned) => {
            const { name, agentId } = positioned.step;
            const state = stateOf?.(name);
            return (
              <li key={name} style={{ left: positioned.x, top: positioned.y, ...nodeSize }}>
                <button
                  type="button"
                  aria-pressed={name === chosen}
                  data-tone={state?.tone}
                  onClick={() => onChoose(name)}
                >
                  <span className={classes.head}>
                    <strong>{name}</strong>
                    {state?.badge}
                  </span>
                  <span className={classes.agent}>{nameOf(agentId) ?? agentId}</span>
                  <Marks step={positioned.step} />
                  <span className="visually-hidden">{dependencyText(positioned)}</span>
                </button>
              </li>
            );
          })}
        </ol>
      </div>
    </section>
  );
}

function Marks({ step }: { readonly step: WorkflowStep }) {
  const marks = [
    step.when !== null && 'when',
    step.forEach !== null && 'for each',
    step.fallback !== null && 'fallback',
    step.onFailure === 'continue' && 'optional',
  ].filter((mark) => mark !== false);
  return (
    <span className={classes.marks}>
      {marks.map((mark) => (
        <span key={mark}>{mark}</span>
      ))}
    </span>
  );
}

function dependencyText({ dependencies }: PositionedStep): string {
  return dependencies.length === 0 ? 'starts immediately' : `waits for ${dependencies.join(', ')}`;
}

/** Curves between layers, straight lines through them. */
function curve(points: GraphLayout['edges'][number]['points']): string {
  return points
    .map(([x, y], index) => {
      const [fromX, fromY] = points[index - 1] ?? [x, y];
      if (index === 0) return `M${x} ${y}`;
      if (index % 2 === 0) return `L${x} ${y}`;
      const middle = (fromX + x) / 2;
      return `C${middle} ${fromY} ${middle} ${y} ${x} ${y}`;
    })
    .join('');
}
