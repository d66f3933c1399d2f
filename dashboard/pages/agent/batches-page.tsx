import { Button, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef } from 'react';
import { Identifier } from '../../components/code/identifier.tsx';
import { Meter } from '../../components/figures/meter.tsx';
import { Time } from '../../components/figures/time.tsx';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { FormError } from '../../components/states/form-error.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import {
  type Batch,
  batchesQuery,
  cancelBatch,
  endedLines,
  failedLines,
  uploadBatch,
  useDownloadResults,
} from '../../data/executions/batches.ts';
import { formatExactCount } from '../../data/text/format.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';
import { openDialog } from '../../kit/dialog.tsx';
import { List } from '../../kit/list.tsx';
import { useAction } from '../../kit/resource.ts';
import { RowMenu } from '../../kit/row-menu.tsx';
import classes from './batches.module.css';
import { FailedLines } from './failed-lines.tsx';

const route = getRouteApi('/app/agents/$agentId');

/** The batches of an agent: upload, progress, failures, results, cancel. */
export function BatchesPage() {
  const { agentId } = route.useParams();
  const [{ offset = 0 }] = useFilters<{ readonly offset?: number }>();
  const batches = useQuery(batchesQuery(agentId, offset));
  const download = useDownloadResults(agentId);
  const canEdit = can(useMe(), 'edit');
  const showFailed = (batch: Batch) => openDialog(<FailedLines batch={batch} />);
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
              ['Download results', () => download.mutate(batch.batchId)],
              canEdit &&
                batch.status === 'processing' && [
                  'Cancel batch',
                  () => openDialog(<CancelBatch batch={batch} />),
                ],
            ]}
          />
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

function Upload({ agentId }: { readonly agentId: string }) {
  const upload = useAction(uploadBatch(agentId));
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="row">
      <Button loading={upload.isPending} onClick={() => input.current?.click()}>
        Upload file
      </Button>
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
          if (file) upload.mutate(file);
          // The same file may be chosen again.
          currentTarget.value = '';
        }}
      />
      <FormError error={upload.error} />
    </div>
  );
}

function columnsOf(onFailures: (batch: Batch) => void): readonly Column<Batch>[] {
  return [
    { header: 'Status', cell: (batch) => <Status batch={batch} /> },
    {
      header: 'Progress',
      cell: (batch) => <Progress batch={batch} />,
    },
    {
      header: 'Failures',
      align: 'right',
      cell: (batch) => <Failures batch={batch} onShow={() => onFailures(batch)} />,
    },
    {
      header: 'Uploaded',
      hideBelow: 'sm',
      cell: ({ createdAt }) => <Time at={createdAt} relative />,
    },
    {
      header: 'Batch',
      hideBelow: 'md',
      cell: ({ batchId }) => <Identifier id={batchId} name="batch ID" />,
    },
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
      {reason && <div className="note">{reason}</div>}
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
