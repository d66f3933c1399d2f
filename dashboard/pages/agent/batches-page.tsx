import { Anchor, Box, Button, Group, Menu } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Identifier } from '../../components/code/identifier.tsx';
import { Meter } from '../../components/figures/meter.tsx';
import { Time } from '../../components/figures/time.tsx';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { FormError } from '../../components/states/form-error.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import {
  type Batch,
  batchesQuery,
  cancelBatch,
  endedLines,
  failedLines,
  rerunBatch,
  useDownloadResults,
} from '../../data/executions/batches.ts';
import { formatExactCount } from '../../data/text/format.ts';
import { randomKey } from '../../data/text/random-key.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';
import { openDialog } from '../../kit/dialog.tsx';
import { List } from '../../kit/list.tsx';
import { RowMenu } from '../../kit/row-menu.tsx';
import { FailedLines } from './failed-lines.tsx';
import { NewBatch } from './new-batch.tsx';

const route = getRouteApi('/app/agents/$agentId');

/** The batches of an agent: upload, progress, failures, results, cancel. */
export function BatchesPage() {
  const { agentId } = route.useParams();
  const [{ offset = 0 }] = useFilters<{ readonly offset?: number }>();
  const batches = useQuery(batchesQuery(agentId, offset));
  const download = useDownloadResults(agentId);
  const canEdit = can(useMe(), 'edit');
  const mayRerun = (batch: Batch) =>
    canEdit && batch.completedAt !== null && batch.counts.failed > 0;
  const rerun = (batch: Batch) => openDialog(<RerunBatch batch={batch} />);
  const showFailed = (batch: Batch) => {
    const again = <Button onClick={() => rerun(batch)}>Run failed lines again</Button>;
    openDialog(<FailedLines batch={batch} rerun={mayRerun(batch) && again} />);
  };
  return (
    <div className="stack">
      {canEdit && batches.data && <Upload agentId={agentId} />}
      <FormError error={download.error} />
      <List
        caption="Batches"
        query={batches}
        rows={(page) => page.batches}
        rowKey={({ batchId }) => batchId}
        columns={columnsOf(showFailed)}
        actions={(batch) => (
          <RowMenu
            name={batch.batchId}
            actions={[
              failedLines(batch) > 0 && ['Show failed lines', () => showFailed(batch)],
              mayRerun(batch) && ['Run failed lines again', () => rerun(batch)],
              ['Download results', () => download.mutate(batch.batchId)],
              canEdit &&
                batch.status === 'processing' && [
                  'Cancel batch',
                  () => openDialog(<CancelBatch batch={batch} />),
                ],
            ]}
          >
            <Menu.Item
              component={Link}
              to="/agents/$agentId/history"
              params={{ agentId } as never}
              search={{ batchId: batch.batchId } as never}
            >
              Show executions
            </Menu.Item>
          </RowMenu>
        )}
        loadingRows={3}
        empty={{
          title: 'No batches yet',
          text: 'A batch is a file of calls. Each line becomes an execution, behind other calls of the workspace.',
        }}
      />
    </div>
  );
}

function CancelBatch({ batch }: { readonly batch: Batch }) {
  return (
    <ConfirmDialog
      title="Cancel batch"
      confirm="Cancel batch"
      cancel="Keep running"
      action={cancelBatch(batch)}
    >
      Waiting lines do not start; running executions are canceled.
    </ConfirmDialog>
  );
}

/** The failed lines, as they are stored. */
function RerunBatch({ batch }: { readonly batch: Batch }) {
  const [key] = useState(randomKey);
  const { failed } = batch.counts;
  const lines = failed === 1 ? '1 failed line' : `${formatExactCount(failed)} failed lines`;
  return (
    <ConfirmDialog
      title={`Run ${lines} again`}
      confirm="Run"
      destructive={false}
      action={rerunBatch(batch, key)}
    >
      A new batch runs them with their stored variables, on the version that the agent pins now.
      Each uses one AI Action. Invalid lines are left out: correct them in the file.
    </ConfirmDialog>
  );
}

function Upload({ agentId }: { readonly agentId: string }) {
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const input = useRef<HTMLInputElement>(null);
  return (
    <Group gap="0.5rem 0.75rem">
      <Button onClick={() => input.current?.click()}>Choose a file</Button>
      <span className="note">
        JSON Lines, one call per line: <code>{'{"id": "1", "variables": {…}}'}</code>
      </span>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File of the batch"
        accept=".jsonl,.ndjson,application/jsonl,application/x-ndjson"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file) openDialog(<NewBatch agent={agent} file={file} />);
          // The same file may be chosen again.
          currentTarget.value = '';
        }}
      />
    </Group>
  );
}

function columnsOf(onFailures: (batch: Batch) => void): readonly Column<Batch>[] {
  return [
    { header: 'File', cell: (batch) => <FileName batch={batch} /> },
    { header: 'Status', hideBelow: 'sm', cell: (batch) => <Status batch={batch} /> },
    {
      header: 'Progress',
      cell: (batch) => <Progress batch={batch} onShow={() => onFailures(batch)} />,
    },
    { header: 'Version', hideBelow: 'md', cell: ({ promptVersionLabel }) => promptVersionLabel },
    {
      header: 'Uploaded',
      hideBelow: 'sm',
      cell: ({ createdAt }) => <Time at={createdAt} relative />,
    },
    {
      header: 'Batch',
      hideBelow: 'lg',
      cell: ({ batchId }) => <Identifier id={batchId} name="batch ID" />,
    },
  ];
}

function FileName({ batch }: { readonly batch: Batch }) {
  const { fileName, rerunOf, createdAt } = batch;
  return (
    <>
      <bdi className={fileName === null ? 'soft' : 'name'}>{fileName ?? 'No name'}</bdi>
      {rerunOf !== null && <div className="small-note">failed lines, again</div>}
      <div className="small-note narrow-only">
        <Time at={createdAt} relative />
        <Status batch={batch} />
      </div>
    </>
  );
}

const waitingTexts: Readonly<Record<NonNullable<Batch['waitingFor']>, string>> = {
  agent_paused: 'the agent accepts no calls',
  quota: 'the monthly quota is used up',
  rate_limit: 'a rate limit is reached',
  budget: 'a budget has no room',
};

const canceledTexts: Readonly<Record<NonNullable<Batch['canceledBecause']>, string>> = {
  requested: 'on request',
  key_ended: 'its key ended',
  permission_lost: 'its key lost the permission',
  agent_deleted: 'the agent was deleted',
  budget_exhausted: 'a budget that never resets is spent',
};

function Status({ batch }: { readonly batch: Batch }) {
  const { status, waitingFor, canceledBecause } = batch;
  const reason =
    (waitingFor && waitingTexts[waitingFor]) ?? (canceledBecause && canceledTexts[canceledBecause]);
  const text = waitingFor ? 'waiting' : status;
  const isPartial = status === 'completed' && failedLines(batch) > 0;
  return (
    <>
      <StateBadge tone={waitingFor || isPartial ? 'warn' : tones[status]} text={text} />
      {reason && <div className="note">{reason}</div>}
    </>
  );
}

const tones = { processing: 'running', completed: 'good', canceled: 'calm' } as const;

/** How many lines have ended, and once there are any, how many of them have failed. */
function Progress(props: { readonly batch: Batch; readonly onShow: () => void }) {
  const { batch, onShow } = props;
  const { total, success, failed, refused } = batch.counts;
  const ended = endedLines(batch);
  const text = `${formatExactCount(ended)} of ${formatExactCount(total)}`;
  const failures = [
    failed > 0 && `${formatExactCount(failed)} failed`,
    refused > 0 && `${formatExactCount(refused)} invalid`,
  ].filter((part) => part !== false);
  return (
    <Group gap="0.125rem 0.625rem">
      {batch.completedAt === null && (
        <Box w="6rem">
          <Meter used={ended} max={total} label={`${text} lines ended`} progress />
        </Box>
      )}
      {failures.length === 0 ? (
        <span className="nowrap">{text}</span>
      ) : (
        <span>
          {formatExactCount(success)} of {formatExactCount(total)} succeeded,{' '}
          <Anchor component="button" c="var(--warn)" ta="left" inherit onClick={onShow}>
            {failures.join(', ')}
          </Anchor>
        </span>
      )}
    </Group>
  );
}
