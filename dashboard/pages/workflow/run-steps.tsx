import { Card } from '../../components/card.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { formatCount, formatDuration } from '../../data/text/format.ts';
import type { WorkflowRunDetail, WorkflowRunStep } from '../../data/workflows/workflow-runs.ts';
import type { WorkflowDefinition } from '../../data/workflows/workflows.ts';
import { StepBadge, stepTones } from './run-badges.tsx';
import { durationOf, EmptyCell, ExecutionLinks, FixedFallback } from './run-cells.tsx';
import { RunItems } from './run-items.tsx';
import classes from './workflow.module.css';

/** The steps of a workflow run with timings, and the items of the selected step. */
export function RunSteps(props: {
  readonly run: WorkflowRunDetail;
  readonly definition: WorkflowDefinition;
  readonly nameOf: (agentId: string) => string | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (step: string) => void;
}) {
  const { run, definition, nameOf, chosen, onChoose } = props;
  const firstAgentOf = (name: string) =>
    definition.steps.find((one) => one.name === name)?.agentId ?? '';
  const step = run.steps.find(({ name }) => name === chosen);
  const columns: readonly Column<WorkflowRunStep>[] = [
    {
      key: 'name',
      header: 'Step',
      cell: ({ name, itemCount }) =>
        itemCount !== undefined ? (
          <button type="button" className={classes.linkButton} onClick={() => onChoose(name)}>
            {name}
          </button>
        ) : (
          <span className={classes.name}>{name}</span>
        ),
    },
    { key: 'state', header: 'State', cell: (one) => <State step={one} /> },
    {
      key: 'agent',
      header: 'Agent',
      hideBelow: 'md',
      cell: ({ name, agentId, fallback }) => {
        // A fixed output calls no agent, so show the step's agent, which failed.
        const called = agentId ?? (fallback ? firstAgentOf(name) : '');
        if (!called) return <EmptyCell />;
        const mark = agentId && fallback ? ' (fallback)' : '';
        return <span className={classes.agent}>{`${nameOf(called) ?? called}${mark}`}</span>;
      },
    },
    {
      key: 'when',
      header: 'Timeline',
      hideBelow: 'sm',
      cell: (one) => <Bar run={run} step={one} />,
    },
    {
      key: 'took',
      header: 'Duration',
      align: 'right',
      cell: (one) => durationOf(one) ?? <EmptyCell />,
    },
    {
      key: 'executions',
      header: 'Execution',
      align: 'right',
      cell: (one) => (
        <ExecutionLinks item={one} name={one.name} firstAgentId={firstAgentOf(one.name)} />
      ),
    },
  ];
  return (
    <>
      <div className={classes.rows}>
        <DataTable caption="Steps" columns={columns} rows={run.steps} rowKey={({ name }) => name} />
      </div>
      {step?.itemCount !== undefined && (
        <Card title={`Items of ${step.name}`}>
          <RunItems key={step.name} run={run} step={step} firstAgentId={firstAgentOf(step.name)} />
        </Card>
      )}
    </>
  );
}

function State({ step }: { readonly step: WorkflowRunStep }) {
  const { status, skippedReason, error, errorCode, itemCount, itemsEnded = 0 } = step;
  return (
    <>
      <StepBadge status={status} />
      {itemCount !== undefined && (
        <div className={classes.note}>
          {formatCount(itemsEnded)} of {formatCount(itemCount)} items done
        </div>
      )}
      <FixedFallback item={step} />
      {skippedReason && <div className={classes.note}>{skipped[skippedReason]}</div>}
      {error !== undefined && (
        <div className={classes.error}>
          <code>{errorCode}</code> {error}
        </div>
      )}
    </>
  );
}

const skipped = {
  CONDITION: 'condition not met',
  ALL_SKIPPED: 'all dependencies skipped',
} as const;

/** The step's time span within the workflow run. */
function Bar({ run, step }: { readonly run: WorkflowRunDetail; readonly step: WorkflowRunStep }) {
  if (!step.startedAt) return <EmptyCell />;
  const start = Date.parse(run.executedAt);
  const times = run.steps.flatMap((one) => [one.startedAt ?? [], one.completedAt ?? []].flat());
  const latest = Math.max(...times.map((time) => Date.parse(time)));
  // Uses the viewer's clock, which may be wrong, only for steps in progress.
  const end = run.completedAt ? Date.parse(run.completedAt) : Math.max(latest, Date.now());
  const all = Math.max(1, end - start);
  const share = (time: string | undefined) =>
    Math.min(1, Math.max(0, ((time ? Date.parse(time) : end) - start) / all)) * 100;
  const [from, to] = [share(step.startedAt), share(step.completedAt)];
  const after = formatDuration(Math.max(0, Date.parse(step.startedAt) - start));
  return (
    <svg
      className={classes.bar}
      width="100%"
      height="8"
      role="img"
      aria-label={`Started ${after} after the workflow run`}
    >
      <rect data-part="all" width="100%" height="8" rx="3" />
      <rect
        data-part="step"
        data-tone={stepTones[step.status]}
        x={`${Math.min(from, 98)}%`}
        width={`${Math.max(to - from, 2)}%`}
        height="8"
        rx="3"
      />
    </svg>
  );
}
