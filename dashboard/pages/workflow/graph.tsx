import type { ReactNode } from 'react';
import { box, type GraphPicture, type PlacedStep } from '../../data/workflows/workflow-graph.ts';
import type { WorkflowStep } from '../../data/workflows/workflows.ts';
import classes from './graph.module.css';

/**
 * The steps as boxes in layers, connected by dependency edges. Keyboard and screen reader users get a list of buttons
 * in execution order, each naming its dependencies.
 */
export function Graph(props: {
  readonly picture: GraphPicture;
  readonly label: string;
  readonly nameOf: (agentId: string) => string | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (step: string) => void;
  /** The state of each step of a workflow run. */
  readonly stateOf?: (step: string) => { readonly tone: string; readonly badge: ReactNode };
}) {
  const { picture, nameOf, chosen, onChoose, stateOf } = props;
  const { steps, lines, width, height } = picture;
  return (
    <section className={classes.frame} aria-label={props.label}>
      <div className={classes.picture} style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true" focusable="false">
          {lines.map(({ from, to, points }) => (
            <path
              key={`${from} ${to}`}
              d={curve(points)}
              data-chosen={from === chosen || to === chosen || undefined}
            />
          ))}
        </svg>
        <ol>
          {steps.map((placed) => {
            const { name, agentId } = placed.step;
            const state = stateOf?.(name);
            return (
              <li key={name} style={{ left: placed.x, top: placed.y, ...box }}>
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
                  <Marks step={placed.step} />
                  <span className="visually-hidden">{waiting(placed)}</span>
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

function waiting({ waitsFor }: PlacedStep): string {
  return waitsFor.length === 0 ? 'starts immediately' : `waits for ${waitsFor.join(', ')}`;
}

/** Curves between layers, straight lines through them. */
function curve(points: GraphPicture['lines'][number]['points']): string {
  return points
    .map(([x, y], place) => {
      const [fromX, fromY] = points[place - 1] ?? [x, y];
      if (place === 0) return `M${x} ${y}`;
      if (place % 2 === 0) return `L${x} ${y}`;
      const middle = (fromX + x) / 2;
      return `C${middle} ${fromY} ${middle} ${y} ${x} ${y}`;
    })
    .join('');
}
