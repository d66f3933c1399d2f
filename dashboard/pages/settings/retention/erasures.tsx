import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Erasure } from '../../../../src/client/index.ts';
import {
  ConfirmErasure,
  type ErasedBy,
  erasedBy,
  isNamed,
} from '../../../components/dialogs/confirm-erasure.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { useFilters } from '../../../components/hooks/use-filters.ts';
import { Card } from '../../../components/layout/card.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { erasuresQuery } from '../../../data/workspace/retention.ts';
import { openDialog } from '../../../kit/dialog.tsx';
import { Fields } from '../../../kit/fields.tsx';
import { List } from '../../../kit/list.tsx';
import type { OffsetSearch } from '../route.ts';

const pageSize = 20;

/** Requests the deletion of all records of an end user, and shows the progress. */
export function Erasures() {
  const [{ offset = 0 }] = useFilters<OffsetSearch>();
  return (
    <Card title="Erase an end user">
      <p className="intro">
        Deletes every record of any agent that was for this user, or that has this tag, metadata or
        variable, and every workflow run that the value reached. Schedules are only listed: change
        them. Executions in progress are deleted when they end. Records whose bodies were already
        deleted cannot be matched and stay.
      </p>
      <EraseForm />
      <List
        caption="Erasures"
        query={useQuery(erasuresQuery({ limit: pageSize, offset }))}
        rows={(page) => page.erasures}
        rowKey={({ erasureId }) => erasureId}
        columns={columns}
        empty={null}
      />
    </Card>
  );
}

const columns: readonly Column<Erasure>[] = [
  {
    header: 'By',
    cell: ({ by, variable, metadata }) => (
      <>
        {erasedBy[by]} {(variable ?? metadata) !== null && <code>{variable ?? metadata}</code>}
      </>
    ),
  },
  {
    header: 'Status',
    cell: ({ status }) => (
      <StateBadge tone={status === 'completed' ? 'good' : 'running'} text={status} />
    ),
  },
  {
    header: 'Deleted',
    align: 'right',
    cell: ({ deleted, waiting }) =>
      deleted.toLocaleString() + (waiting > 0 ? `, ${waiting} pending` : ''),
  },
  {
    header: 'Schedules to change',
    hideBelow: 'sm',
    cell: ({ schedules }) => schedules.map((one) => <code key={one}>{one} </code>),
  },
  {
    header: 'Requested',
    hideBelow: 'sm',
    cell: ({ requestedAt }) => <Time at={requestedAt} relative />,
  },
];

function EraseForm() {
  const [values, setValues] = useState({ by: 'user' as ErasedBy, name: '', value: '' });
  const { by } = values;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    openDialog(<ConfirmErasure {...values} onDone={() => setValues({ ...values, value: '' })} />);
  };
  return (
    <form className="form" onSubmit={submit}>
      <Fields
        values={values}
        error={null}
        onChange={(some) => setValues({ ...values, ...some })}
        fields={[
          {
            name: 'by',
            label: 'Identified by',
            options: Object.entries(erasedBy).map(([value, label]) => ({ value, label })),
          },
          isNamed(by) && {
            name: 'name',
            label: 'Name',
            description: `The ${by === 'variable' ? 'variable' : 'name in the metadata'} that identifies the end user`,
            placeholder: 'customer',
            required: true,
            maxLength: 1000,
          },
          {
            name: 'value',
            label: 'Value',
            description:
              'As it appears in prompts. Cueline deletes it when the erasure is complete.',
            required: true,
            maxLength: 10000,
          },
        ]}
      />
      <div>
        <Button type="submit" variant="default" c="var(--bad)">
          Erase…
        </Button>
      </div>
    </form>
  );
}
