import { useSeconds } from '../../../components/hooks/use-seconds.ts';
import { Card } from '../../../components/layout/card.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { formatCount } from '../../../data/text/format.ts';
import {
  isInProgress,
  type WorkflowRunDetail,
  type WorkflowRunStep,
} from '../../../data/workflows/workflow-runs.ts';
import type { WorkflowDefinition } from '../../../data/workflows/workflows.ts';
import classes from '../workflow.module.css';
import { RunBadge } from './run-badges.tsx';
import {
  ExecutionLinks,
  FailureReason,
  FixedFallback,
  figureColumns,
  NarrowFigures,
  type TimelineAxis,
  timelineColumn,
} from './run-cells.tsx';
import { RunItems } from './run-items.tsx';

/**
 * The steps of a workflow run on a time axis with tokens and costs, and the items of the selected step on the same axis.
 * Bars of what is in progress grow every second.
 */
export function RunTimeline(props: {
  readonly run: WorkflowRunDetail;
  readonly definition: WorkflowDefinition;
  readonly nameOf: (agentId: string) => string | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (step: string) => void;
}) {
  const { run, definition, nameOf, chosen, onChoose } = props;
  const firstAgentOf = (name: string) =>
    definition.steps.find((one) => one.name === name)?.agentId ?? '';
  const agentOf = ({ name, agentId, fallback }: WorkflowRunStep) => {
    // A fixed output calls no agent, so show the step's agent, which failed.
    const called = agentId ?? firstAgentOf(name);
    return `${nameOf(called) ?? called}${agentId && fallback ? ' (fallback)' : ''}`;
  };
  const axis = axisOf(run, useSeconds(isInProgress(run)));
  const fanOut = run.steps.filter(({ itemCount }) => itemCount !== undefined);
  const step = fanOut.find(({ name }) => name === chosen) ?? fanOut[0];
  const columns: readonly Column<WorkflowRunStep>[] = [
    {
      header: 'Step',
      cell: (one) => (
        <div style={{ minWidth: '6rem' }}>
          {one.itemCount !== undefined && fanOut.length > 1 ? (
            <button type="button" className={classes.linkButton} onClick={() => onChoose(one.name)}>
              {one.name}
            </button>
          ) : (
            <span className="name">{one.name}</span>
          )}
          <div className="note">{agentOf(one)}</div>
          <NarrowFigures axis={axis} item={one} />
        </div>
      ),
    },
    { header: 'State', cell: (one) => <State run={run} step={one} /> },
    timelineColumn(axis),
    ...figureColumns,
    {
      header: 'Execution',
      align: 'right',
      cell: (one) => (
        <ExecutionLinks item={one} name={one.name} firstAgentId={firstAgentOf(one.name)} />
      ),
    },
  ];
  return (
    <>
      <div>
        <DataTable
          caption="Timeline of the steps"
          columns={columns}
          rows={run.steps.toSorted(byStart)}
          rowKey={({ name }) => name}
        />
      </div>
      {step && (
        <Card title={`Items of ${step.name}`}>
          <RunItems
            key={step.name}
            run={run}
            step={step}
            axis={axis}
            firstAgentId={firstAgentOf(step.name)}
          />
        </Card>
      )}
    </>
  );
}

function State(props: { readonly run: WorkflowRunDetail; readonly step: WorkflowRunStep }) {
  const { run, step } = props;
  const isKept = run.rerunOf !== undefined && step.status === 'success' && !step.startedAt;
  const { skippedReason, itemCount, itemsEnded = 0, itemsFailed } = step;
  return (
    <>
      <RunBadge of={step} />
      {itemCount !== undefined && !itemsFailed && (
        <div className="note">
          {formatCount(itemsEnded)} of {formatCount(itemCount)} items done
        </div>
      )}
      <FixedFallback item={step} />
      {isKept && <div className="note">from the first run</div>}
      {skippedReason && <div className="note">{skipped[skippedReason]}</div>}
      <FailureReason item={step} />
    </>
  );
}

const skipped = {
  CONDITION: 'condition not met',
  ALL_SKIPPED: 'all dependencies skipped',
} as const;

/** In the order of their start; steps that have not started come last, as in the definition. */
function byStart({ startedAt: a }: WorkflowRunStep, { startedAt: b }: WorkflowRunStep): number {
  return (a ? Date.parse(a) : Number.MAX_VALUE) - (b ? Date.parse(b) : Number.MAX_VALUE);
}

/** From the start of the workflow run to its end; to now while it runs, even on a clock that is behind the server's. */
function axisOf(run: WorkflowRunDetail, nowMs: number): TimelineAxis {
  const startMs = Date.parse(run.executedAt);
  if (run.completedAt) return { startMs, endMs: Date.parse(run.completedAt) };
  const times = run.steps.flatMap(({ startedAt, completedAt }) => [startedAt, completedAt]);
  const known = times.flatMap((time) => (time === undefined ? [] : Date.parse(time)));
  return { startMs, endMs: Math.max(startMs, nowMs, ...known) };
}
