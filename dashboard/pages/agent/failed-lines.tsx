import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Dialog, DialogCloseButton } from '../../components/dialogs/dialog.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import { type Column, DataTable } from '../../components/tables/data-table.tsx';
import {
  type Batch,
  type BatchResult,
  failedLines,
  failedLinesQuery,
} from '../../data/executions/batches.ts';
import { formatExactCount } from '../../data/text/format.ts';
import classes from './batches.module.css';

/** The lines of a batch that failed or are invalid, each with its error and its execution. */
export function FailedLines(props: { readonly batch: Batch; readonly onClose: () => void }) {
  const { batch, onClose } = props;
  const { agentId, batchId } = batch;
  const lines = useQuery(failedLinesQuery(agentId, batchId));
  const { data } = lines;
  return (
    <Dialog title="Failed lines" size="xl" onClose={onClose}>
      <Stack gap="md">
        {lines.isError && !data ? (
          <ErrorState error={lines.error} onRetry={() => void lines.refetch()} />
        ) : (
          <DataTable
            caption={`Failed lines of ${batchId}`}
            columns={columnsOf(agentId)}
            rows={data}
            rowKey={({ line }) => String(line)}
            loadingRows={3}
          />
        )}
        {data && data.length < failedLines(batch) && (
          <p className={classes.hint}>
            The first {formatExactCount(data.length)} of {formatExactCount(failedLines(batch))}.
            Download the results to see all.
          </p>
        )}
        <Group justify="flex-end">
          <DialogCloseButton>Close</DialogCloseButton>
        </Group>
      </Stack>
    </Dialog>
  );
}

function columnsOf(agentId: string): readonly Column<BatchResult>[] {
  return [
    {
      key: 'line',
      header: 'Line',
      align: 'right',
      cell: ({ line }) => formatExactCount(line),
    },
    { key: 'id', header: 'ID', cell: ({ id }) => <span dir="auto">{id ?? '–'}</span> },
    {
      key: 'status',
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
      key: 'error',
      header: 'Error',
      cell: ({ error, errorCode }) => (
        <div className={classes.error}>
          <code>{errorCode}</code>
          <div className={classes.hint} dir="auto">
            {error}
          </div>
        </div>
      ),
    },
    {
      key: 'execution',
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
