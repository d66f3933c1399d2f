import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { Pager } from '../../../components/tables/pager.tsx';
import { formatExactCount } from '../../../data/text/format.ts';
import {
  itemsPageSize,
  type WorkflowRunDetail,
  type WorkflowRunItem,
  type WorkflowRunStep,
  workflowRunItemsQuery,
} from '../../../data/workflows/workflow-runs.ts';
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

interface Shown {
  readonly offset: number;
  readonly status?: 'failed' | undefined;
}

/** The started items of a fan-out step. The workflow run includes the first ones; further pages are fetched. */
export function RunItems(props: {
  readonly run: WorkflowRunDetail;
  readonly step: WorkflowRunStep;
  readonly axis: TimelineAxis;
  readonly firstAgentId: string;
}) {
  const { run, step, axis, firstAgentId } = props;
  const [{ offset, status }, choose] = useState<Shown>({ offset: 0 });
  const { items: started = [], itemsBegun = 0, itemsFailed = 0 } = step;
  const isFailed = ({ status }: WorkflowRunItem) => status === 'failed';
  const total = status ? itemsFailed : itemsBegun;
  const included = status ? started.filter(isFailed) : started;
  const isIncluded = offset + itemsPageSize <= included.length || included.length === total;
  const page = useQuery({
    ...workflowRunItemsQuery(run, step.name, { offset, status }),
    enabled: !isIncluded,
  });
  const rows = isIncluded ? included.slice(offset, offset + itemsPageSize) : page.data?.items;
  if (itemsBegun === 0) {
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
          <RunBadge of={one} />
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
      {itemsFailed > 0 && (
        <SegmentedControl
          {...{ size: 'xs', mb: 'sm' }}
          aria-label="Items"
          value={status ?? ''}
          onChange={(value) => choose({ offset: 0, ...(value !== '' && { status: 'failed' }) })}
          data={[
            { value: '', label: `All ${formatExactCount(itemsBegun)}` },
            { value: 'failed', label: `${formatExactCount(itemsFailed)} failed` },
          ]}
        />
      )}
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
          onOffset={(offset) => choose({ offset, status })}
        />
      )}
    </div>
  );
}
