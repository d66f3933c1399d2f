import { Button } from '@mantine/core';
import { useState } from 'react';
import type { RunItem, RunStep } from '../../data/workflow-runs.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { StepBadge } from './run-badges.tsx';
import { Executions, None, tookOf } from './run-steps.tsx';
import classes from './workflow.module.css';

const shownAtOnce = 50;

/** Each item of a step that fans out, as far as they have begun. */
export function RunItems(props: { readonly step: RunStep; readonly firstAgentId: string }) {
  const { step, firstAgentId } = props;
  const [shown, show] = useState(shownAtOnce);
  const items = step.items ?? [];
  if (items.length === 0) {
    return <p className={classes.note}>None has begun.</p>;
  }
  const columns: readonly Column<RunItem>[] = [
    {
      key: 'item',
      header: 'Item',
      cell: ({ item }) => <span className={classes.code}>{item}</span>,
    },
    {
      key: 'state',
      header: 'State',
      cell: ({ status, error, errorCode }) => (
        <>
          <StepBadge status={status} />
          {error !== undefined && (
            <div className={classes.error}>
              <code>{errorCode}</code> {error}
            </div>
          )}
        </>
      ),
    },
    { key: 'took', header: 'Took', align: 'right', cell: (one) => tookOf(one) ?? <None /> },
    {
      key: 'executions',
      header: 'Execution',
      align: 'right',
      cell: (one) => <Executions of={one} name={`item ${one.item}`} firstAgentId={firstAgentId} />,
    },
  ];
  return (
    <div className={classes.rows}>
      <DataTable
        caption="Items that have begun"
        columns={columns}
        rows={items.slice(0, shown)}
        rowKey={({ item }) => String(item)}
      />
      {items.length > shown && (
        <Button mt="sm" variant="default" onClick={() => show(shown + 200)}>
          Show more of {items.length}
        </Button>
      )}
    </div>
  );
}
