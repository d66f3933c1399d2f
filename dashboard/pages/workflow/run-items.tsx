import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Pager } from '../../components/pager.tsx';
import { NotRenewed } from '../../components/stale-notice.tsx';
import {
  itemsOnPage,
  type RunItem,
  type RunStep,
  runItemsQuery,
  type WorkflowRunDetail,
} from '../../data/workflows/workflow-runs.ts';
import { StepBadge } from './run-badges.tsx';
import { Executions, FixedFallback, None, tookOf } from './run-cells.tsx';
import classes from './workflow.module.css';

/** The started items of a fan-out step. The workflow run includes the first ones; further pages are fetched. */
export function RunItems(props: {
  readonly run: WorkflowRunDetail;
  readonly step: RunStep;
  readonly firstAgentId: string;
}) {
  const { run, step, firstAgentId } = props;
  const [offset, setOffset] = useState(0);
  const { items: told = [], itemsBegun: total = 0 } = step;
  const isTold = offset + itemsOnPage <= told.length || told.length === total;
  const asked = useQuery({ ...runItemsQuery(run, step.name, offset), enabled: !isTold });
  const rows = isTold ? told.slice(offset, offset + itemsOnPage) : asked.data?.items;
  if (total === 0) {
    return <p className={classes.note}>No items started yet.</p>;
  }
  const count = Math.min(itemsOnPage, total - offset);
  const columns: readonly Column<RunItem>[] = [
    {
      key: 'item',
      header: 'Item',
      cell: ({ item }) => <span className={classes.code}>{item}</span>,
    },
    {
      key: 'state',
      header: 'State',
      cell: ({ error, errorCode, ...one }) => (
        <>
          <StepBadge status={one.status} />
          <FixedFallback of={one} />
          {error !== undefined && (
            <div className={classes.error}>
              <code>{errorCode}</code> {error}
            </div>
          )}
        </>
      ),
    },
    { key: 'took', header: 'Duration', align: 'right', cell: (one) => tookOf(one) ?? <None /> },
    {
      key: 'executions',
      header: 'Execution',
      align: 'right',
      cell: (one) => <Executions of={one} name={`item ${one.item}`} firstAgentId={firstAgentId} />,
    },
  ];
  return (
    <div className={classes.rows}>
      {!isTold && <NotRenewed query={asked} />}
      {!isTold && asked.isError && !asked.data ? (
        <ErrorState error={asked.error} onRetry={() => void asked.refetch()} />
      ) : (
        <DataTable
          caption="Started items"
          columns={columns}
          rows={rows}
          rowKey={({ item }) => String(item)}
          loadingRows={count}
          stale={!isTold && asked.isPlaceholderData}
        />
      )}
      {total > itemsOnPage && (
        <Pager
          pagination={{ limit: itemsOnPage, offset, total, hasMore: offset + count < total }}
          count={count}
          onOffset={setOffset}
        />
      )}
    </div>
  );
}
