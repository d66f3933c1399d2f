import { Button, Menu, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Identifier } from '../../components/code/identifier.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Meter } from '../../components/figures/meter.tsx';
import { Time } from '../../components/figures/time.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import { type Column, DataTable } from '../../components/tables/data-table.tsx';
import { Pager } from '../../components/tables/pager.tsx';
import { RowMenu } from '../../components/tables/row-menu.tsx';
import {
  type Batch,
  batchesQuery,
  endedLines,
  failedLines,
  useCancelBatch,
  useDownloadResults,
  useUploadBatch,
} from '../../data/executions/batches.ts';
import { formatExactCount } from '../../data/text/format.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import classes from './batches.module.css';
import { FailedLines } from './failed-lines.tsx';

const route = getRouteApi('/app/agents/$agentId');

/** The batches of an agent: upload, progress, failures, results, cancel. */
export function BatchesPage() {
  const { agentId } = route.useParams();
  const [offset, setOffset] = useState(0);
  const batches = useQuery(batchesQuery(agentId, offset));
  const download = useDownloadResults(agentId);
  const cancel = useCancelBatch(agentId);
  const [toCancel, setToCancel] = useState<Batch | null>(null);
  const [failed, setFailed] = useState<Batch | null>(null);
  const canEdit = can(useMe(), 'edit');
  const { data } = batches;
  if (batches.isError && !data) {
    return <ErrorState error={batches.error} onRetry={() => void batches.refetch()} />;
  }
  const columns = columnsOf(setFailed, (batch) => (
    <RowMenu name={batch.batchId}>
      {failedLines(batch) > 0 && (
        <Menu.Item onClick={() => setFailed(batch)}>Show failed lines</Menu.Item>
      )}
      <Menu.Item onClick={() => download.mutate(batch.batchId)}>Download results</Menu.Item>
      {canEdit && batch.status === 'processing' && (
        <Menu.Item onClick={() => setToCancel(batch)}>Cancel batch</Menu.Item>
      )}
    </RowMenu>
  ));
  return (
    <div className={classes.page}>
      <StaleNotice query={batches} />
      {canEdit && <Upload agentId={agentId} />}
      <FormError error={download.error} />
      {data?.pagination.total === 0 ? (
        <EmptyState title="No batches yet">
          A batch is a file of calls. Each line becomes an execution, behind other calls of the
          workspace.
        </EmptyState>
      ) : (
        <DataTable
          caption="Batches"
          columns={columns}
          rows={data?.batches}
          rowKey={({ batchId }) => batchId}
          loadingRows={3}
          stale={batches.isPlaceholderData}
        />
      )}
      {data && (
        <Pager pagination={data.pagination} count={data.batches.length} onOffset={setOffset} />
      )}
      {failed && <FailedLines batch={failed} onClose={() => setFailed(null)} />}
      <ConfirmDialog
        opened={toCancel !== null}
        title="Cancel batch"
        confirmLabel="Cancel batch"
        cancelLabel="Keep running"
        destructive
        mutation={cancel}
        onConfirm={() =>
          toCancel && cancel.mutate(toCancel.batchId, { onSuccess: () => setToCancel(null) })
        }
        onClose={() => setToCancel(null)}
      >
        Waiting lines do not start; running executions are canceled.
      </ConfirmDialog>
    </div>
  );
}

function Upload({ agentId }: { readonly agentId: string }) {
  const upload = useUploadBatch(agentId);
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className={classes.upload}>
      <Button loading={upload.isPending} onClick={() => input.current?.click()}>
        Upload file
      </Button>
      <span className={classes.hint}>
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
          if (file) upload.mutate(file);
          // The same file may be chosen again.
          currentTarget.value = '';
        }}
      />
      <FormError error={upload.error} />
    </div>
  );
}

function columnsOf(
  onFailures: (batch: Batch) => void,
  actions: Column<Batch>['cell'],
): readonly Column<Batch>[] {
  return [
    { key: 'status', header: 'Status', cell: (batch) => <Status batch={batch} /> },
    {
      key: 'progress',
      header: 'Progress',
      cell: (batch) => <Progress batch={batch} />,
    },
    {
      key: 'failures',
      header: 'Failures',
      align: 'right',
      cell: (batch) => <Failures batch={batch} onShow={() => onFailures(batch)} />,
    },
    {
      key: 'started',
      header: 'Uploaded',
      hideBelow: 'sm',
      cell: ({ createdAt }) => <Time at={createdAt} relative />,
    },
    {
      key: 'id',
      header: 'Batch',
      hideBelow: 'md',
      cell: ({ batchId }) => <Identifier id={batchId} name="batch ID" />,
    },
    { key: 'actions', header: 'Actions', align: 'right', sticky: true, cell: actions },
  ];
}

const waitingTexts: Readonly<Record<NonNullable<Batch['waitingFor']>, string>> = {
  agent_paused: 'the agent accepts no calls',
  quota: 'the monthly quota is used up',
  rate_limit: 'a rate limit is reached',
};

const canceledTexts: Readonly<Record<NonNullable<Batch['canceledBecause']>, string>> = {
  requested: 'on request',
  key_ended: 'its key ended',
  permission_lost: 'its key lost the permission',
  agent_deleted: 'the agent was deleted',
};

function Status({ batch }: { readonly batch: Batch }) {
  const { status, waitingFor, canceledBecause, createdAt } = batch;
  const reason =
    (waitingFor && waitingTexts[waitingFor]) ?? (canceledBecause && canceledTexts[canceledBecause]);
  const text = waitingFor ? 'waiting' : status;
  const tone = waitingFor ? 'warn' : tones[status];
  return (
    <>
      <StateBadge tone={tone} text={text} />
      {reason && <div className={classes.hint}>{reason}</div>}
      <div className={classes.uploaded}>
        <Time at={createdAt} relative />
      </div>
    </>
  );
}

const tones = { processing: 'running', completed: 'good', canceled: 'calm' } as const;

function Progress({ batch }: { readonly batch: Batch }) {
  const { total } = batch.counts;
  const ended = endedLines(batch);
  const text = `${formatExactCount(ended)} of ${formatExactCount(total)}`;
  return (
    <div className={classes.progress}>
      <Meter used={ended} max={total} label={`${text} lines ended`} progress />
      <span>{text}</span>
    </div>
  );
}

function Failures(props: { readonly batch: Batch; readonly onShow: () => void }) {
  const { batch, onShow } = props;
  const { failed, refused } = batch.counts;
  if (failedLines(batch) === 0) return <>0</>;
  return (
    <UnstyledButton className={classes.failures} onClick={onShow}>
      {[
        failed > 0 && `${formatExactCount(failed)} failed`,
        refused > 0 && `${formatExactCount(refused)} invalid`,
      ]
        .filter(Boolean)
        .join(', ')}
    </UnstyledButton>
  );
}
