import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { StateBadge } from '../../components/states/state-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import {
  type Batch,
  type BatchResult,
  failedLines,
  failedLinesQuery,
} from '../../data/executions/batches.ts';
import { formatExactCount } from '../../data/text/format.ts';
import { Dialog, DialogCloseButton } from '../../kit/dialog.tsx';
import { List } from '../../kit/list.tsx';

/** The lines of a batch that failed or are invalid, each with its error and its execution. */
export function FailedLines({
  batch,
  rerun,
}: {
  readonly batch: Batch;
  readonly rerun: ReactNode;
}) {
  const { agentId, batchId } = batch;
  const lines = useQuery(failedLinesQuery(agentId, batchId));
  const { data } = lines;
  return (
    <Dialog title="Failed lines" width="large">
      <Stack gap="md">
        <List
          caption={`Failed lines of ${batchId}`}
          query={lines}
          rows={(all) => all}
          rowKey={({ line }) => String(line)}
          columns={columnsOf(agentId)}
          loadingRows={3}
          empty={null}
        />
        {data && data.length < failedLines(batch) && (
          <p className="note">
            The first {formatExactCount(data.length)} of {formatExactCount(failedLines(batch))}.
            Download the results to see all.
          </p>
        )}
        <Group justify="flex-end">
          <Link
            to="/agents/$agentId/history"
            params={{ agentId }}
            search={{ batchId, status: 'failed' }}
            className="note grow"
          >
            Show their executions
          </Link>
          {rerun}
          <DialogCloseButton>Close</DialogCloseButton>
        </Group>
      </Stack>
    </Dialog>
  );
}

function columnsOf(agentId: string): readonly Column<BatchResult>[] {
  return [
    {
      header: 'Line',
      align: 'right',
      cell: ({ line }) => formatExactCount(line),
    },
    { header: 'ID', cell: ({ id }) => <span dir="auto">{id ?? '–'}</span> },
    {
      header: 'Status',
      hideBelow: 'sm',
      cell: ({ status }) => (
        <StateBadge
          tone={status === 'failed' ? 'bad' : 'warn'}
          text={status === 'refused' ? 'invalid' : status}
        />
      ),
    },
    {
      header: 'Error',
      cell: ({ error, errorCode }) => (
        <div className="wide-text">
          <code>{errorCode}</code>
          <div className="note" dir="auto">
            {error}
          </div>
        </div>
      ),
    },
    {
      header: 'Execution',
      cell: ({ executionId }) =>
        executionId === null ? (
          '–'
        ) : (
          <Link to="/history/$agentId/$executionId" params={{ agentId, executionId }}>
            Open
          </Link>
        ),
    },
  ];
}
