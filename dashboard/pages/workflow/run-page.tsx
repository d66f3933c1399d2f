import { Button, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { WorkflowVersion } from '../../../src/client/index.ts';
import { CodeBlock } from '../../components/code/code-block.tsx';
import { Identifier } from '../../components/code/identifier.tsx';
import { MetricList } from '../../components/figures/metric-list.tsx';
import { Time } from '../../components/figures/time.tsx';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import { useAgentNames } from '../../data/agents/agent-names.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { formatCost, formatCostSum, formatDuration } from '../../data/text/format.ts';
import { graphSteps } from '../../data/workflows/workflow-graph.ts';
import {
  cancelWorkflowRun,
  failedItemsText,
  isInProgress,
  type WorkflowRunDetail,
  type WorkflowRunStep,
  workflowRunQuery,
} from '../../data/workflows/workflow-runs.ts';
import { workflowVersionQuery } from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';
import { openDialog } from '../../kit/dialog.tsx';
import { Graph } from './graph/graph.tsx';
import { RerunItems } from './runs/rerun-items.tsx';
import { RunBadge, toneOf } from './runs/run-badges.tsx';
import { Tokens } from './runs/run-cells.tsx';
import { RunTimeline } from './runs/run-timeline.tsx';
import classes from './workflow.module.css';

const RunAgain = lazyComponent(() => import('./runs/run-again.tsx'), true);
const route = getRouteApi('/app/workflows/$workflowId/runs/$workflowRunId');

export function RunPage() {
  const { workflowId, workflowRunId } = route.useParams();
  const run = useQuery(workflowRunQuery(workflowId, workflowRunId));
  const versionId = run.data?.workflowVersionId ?? '';
  const version = useQuery({
    ...workflowVersionQuery(workflowId, versionId),
    enabled: run.data !== undefined,
  });
  const pending = run.data ? version : run;
  if (pending.isError && !pending.data) {
    return <ErrorState error={pending.error} onRetry={() => void pending.refetch()} />;
  }
  if (!run.data || !version.data) {
    return (
      <Stack aria-busy="true">
        <Skeleton height={28} width="40%" />
        <Skeleton height={220} />
        <Skeleton height={220} />
      </Stack>
    );
  }
  return (
    <>
      <StaleNotice query={run} />
      <Run run={run.data} version={version.data} />
    </>
  );
}

/** One workflow run: the state of each step, input and output. */
function Run({
  run,
  version,
}: {
  readonly run: WorkflowRunDetail;
  readonly version: WorkflowVersion;
}) {
  const { step: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const { definition } = version;
  const steps = useMemo(() => graphSteps(definition), [definition]);
  const nameOf = useAgentNames(definition.steps.map(({ agentId }) => agentId));
  const stepOf = (name: string): WorkflowRunStep =>
    run.steps.find((step) => step.name === name) ?? { name, status: 'waiting' };
  const choose = (step: string) =>
    void navigate({ search: step === chosen ? {} : { step }, replace: true, resetScroll: false });
  return (
    <div className="areas">
      <Head run={run} />
      {run.error !== undefined && (
        <div className={classes.failure} data-calm={run.status === 'canceled' || undefined}>
          <code>{run.errorCode}</code> {run.error}
        </div>
      )}
      <RunMetrics run={run} />
      <Graph
        steps={steps}
        label="Steps of the workflow run"
        nameOf={nameOf}
        chosen={steps.find(({ name }) => name === chosen)?.index ?? null}
        onChoose={({ name }) => choose(name)}
        stateOf={({ name }) => ({
          tone: toneOf(stepOf(name)),
          badge: <StateBadge tone={toneOf(stepOf(name))} text={stepOf(name).status} />,
          items: failedItemsText(stepOf(name)),
        })}
      />
      <RunTimeline
        run={run}
        definition={definition}
        nameOf={nameOf}
        chosen={chosen}
        onChoose={choose}
      />
      <div className={classes.halves}>
        {run.input ? (
          <CodeBlock label="Input" code={stringify(run.input, 2)} />
        ) : (
          <p className="note">The input is not stored, or no longer stored.</p>
        )}
        {run.output !== undefined && <CodeBlock label="Output" code={textOf(run.output)} />}
        {run.status === 'success' && run.output === undefined && (
          <p className="note">The output is no longer stored.</p>
        )}
      </div>
    </div>
  );
}

function Head({ run }: { readonly run: WorkflowRunDetail }) {
  const { workflowId, workflowRunId, rerunOf } = run;
  const canEdit = can(useMe(), 'edit');
  const failed = run.steps.filter(({ itemsFailed }) => itemsFailed);
  return (
    <header>
      <div className={classes.runHead}>
        <h2>Workflow run</h2>
        {/* Announces status changes to screen readers. */}
        <span role="status">
          <RunBadge of={run} />
        </span>
        {canEdit && isInProgress(run) && (
          <Button
            className={classes.action ?? ''}
            size="xs"
            variant="default"
            onClick={() => openDialog(<CancelRun run={run} />)}
          >
            Cancel workflow run
          </Button>
        )}
        {canEdit && !isInProgress(run) && failed.length > 0 && (
          <Button
            className={classes.action ?? ''}
            size="xs"
            onClick={() => openDialog(<RerunItems run={run} steps={failed} />)}
          >
            Run failed items again
          </Button>
        )}
        {canEdit && !isInProgress(run) && (
          <Button
            className={(failed.length === 0 && classes.action) || ''}
            size="xs"
            variant="default"
            onClick={() => openDialog(<RunAgain run={run} />)}
          >
            Run again
          </Button>
        )}
      </div>
      <Identifier id={workflowRunId} name="workflow run ID" />
      {rerunOf && (
        <p className="note">
          Failed items of {run.rerunStep} in{' '}
          <Link
            to="/workflows/$workflowId/runs/$workflowRunId"
            params={{ workflowId, workflowRunId: rerunOf }}
          >
            the first run
          </Link>
        </p>
      )}
    </header>
  );
}

function CancelRun({ run }: { readonly run: WorkflowRunDetail }) {
  return (
    <ConfirmDialog
      title="Cancel this workflow run?"
      confirm="Cancel workflow run"
      cancel="Keep running"
      action={cancelWorkflowRun(run)}
    >
      Stops the executions in progress and starts no further steps. The records of its steps stay.
    </ConfirmDialog>
  );
}

function RunMetrics({ run }: { readonly run: WorkflowRunDetail }) {
  const { workflowId, executedAt, completedAt } = run;
  const nameOf = useMemberNames();
  const metrics: readonly (readonly [string, ReactNode])[] = [
    ['Started', <Time key="at" at={executedAt} />],
    completedAt
      ? ['Duration', formatDuration(Date.parse(completedAt) - Date.parse(executedAt))]
      : ['Deadline', <Time key="deadline" at={run.deadlineAt} />],
    ...usageMetrics(run),
    ['Trigger', run.trigger],
    ['On behalf of', nameOf(run.executedBy ?? null)],
    [
      'Version',
      <Link key="version" to="/workflows/$workflowId/versions" params={{ workflowId }}>
        {run.workflowVersionLabel}
      </Link>,
    ],
  ];
  return <MetricList metrics={metrics} />;
}

function usageMetrics({ usage, maxCostUSD }: WorkflowRunDetail): (readonly [string, ReactNode])[] {
  if (!usage) return [];
  const limit = maxCostUSD === undefined ? '' : ` of at most ${formatCost(maxCostUSD)}`;
  return [
    ['Tokens', <Tokens key="tokens" {...usage} />],
    ['Cost', `${formatCostSum(usage)}${limit}`],
  ];
}

/** Text unchanged, anything else as JSON. */
function textOf(output: unknown): string {
  return typeof output === 'string' ? output : stringify(output, 2);
}
