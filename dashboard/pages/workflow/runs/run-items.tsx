import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { Pager } from '../../../components/tables/pager.tsx';
import {
  itemsPageSize,
  type WorkflowRunDetail,
  type WorkflowRunItem,
  type WorkflowRunStep,
  workflowRunItemsQuery,
} from '../../../data/workflows/workflow-runs.ts';
import { StepBadge } from './run-badges.tsx';
import {
  ExecutionLinks,
  FailureReason,
  FixedFallback,
  figureColumns,
  NarrowFigures,
  type TimelineAxis,
  timelineColumn,
} from './run-cells.tsx';

/** The started items of a fan-out step. The workflow run includes the first ones; further pages are fetched. */
export function RunItems(props: {
  readonly run: WorkflowRunDetail;
  readonly step: WorkflowRunStep;
  readonly axis: TimelineAxis;
  readonly firstAgentId: string;
}) {
  const { run, step, axis, firstAgentId } = props;
  const [offset, setOffset] = useState(0);
  const { items: included = [], itemsBegun: total = 0 } = step;
  const isIncluded = offset + itemsPageSize <= included.length || included.length === total;
  const page = useQuery({ ...workflowRunItemsQuery(run, step.name, offset), enabled: !isIncluded });
  const rows = isIncluded ? included.slice(offset, offset + itemsPageSize) : page.data?.items;
  if (total === 0) {
    return <p className="note">No items started yet.</p>;
  }
  const count = Math.min(itemsPageSize, total - offset);
  const columns: readonly Column<WorkflowRunItem>[] = [
    {
      header: 'Item',
      cell: (one) => (
        <>
          <span className="code">{one.item}</span>
          <NarrowFigures axis={axis} item={one} />
        </>
      ),
    },
    {
      header: 'State',
      cell: (one) => (
        <>
          <StepBadge status={one.status} />
          <FixedFallback item={one} />
          <FailureReason item={one} />
        </>
      ),
    },
    timelineColumn(axis),
    ...figureColumns,
    {
      header: 'Execution',
      align: 'right',
      cell: (one) => (
        <ExecutionLinks item={one} name={`item ${one.item}`} firstAgentId={firstAgentId} />
      ),
    },
  ];
  return (
    <div>
      {!isIncluded && <StaleNotice query={page} />}
      {!isIncluded && page.isError && !page.data ? (
        <ErrorState error={page.error} onRetry={() => void page.refetch()} />
      ) : (
        <DataTable
          caption="Started items"
          columns={columns}
          rows={rows}
          rowKey={({ item }) => String(item)}
          loadingRows={count}
          stale={!isIncluded && page.isPlaceholderData}
        />
      )}
      {total > itemsPageSize && (
        <Pager
          pagination={{ limit: itemsPageSize, offset, total, hasMore: offset + count < total }}
          count={count}
          onOffset={setOffset}
        />
      )}
    </div>
  );
}
