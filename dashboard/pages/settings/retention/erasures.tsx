import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Erasure, ErasureInput, ErasurePreview } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { useFilters } from '../../../components/hooks/use-filters.ts';
import { Card } from '../../../components/layout/card.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { erasurePreviewQuery, erasures, erasuresQuery } from '../../../data/workspace/retention.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { Fields } from '../../../kit/fields.tsx';
import { List } from '../../../kit/list.tsx';
import { withInput } from '../../../kit/resource.ts';
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

const labels = { user: 'User', variable: 'Variable', metadata: 'Metadata', tag: 'Tag' } as const;
type By = keyof typeof labels;

const columns: readonly Column<Erasure>[] = [
  {
    header: 'By',
    cell: ({ by, variable, metadata }) => (
      <>
        {labels[by]} {(variable ?? metadata) !== null && <code>{variable ?? metadata}</code>}
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
  const [values, setValues] = useState({ by: 'user' as By, name: '', value: '' });
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
            options: Object.entries(labels).map(([value, label]) => ({ value, label })),
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
        <Button type="submit" variant="default" mb="md">
          Erase…
        </Button>
      </div>
    </form>
  );
}

const isNamed = (by: By) => by === 'variable' || by === 'metadata';

function ConfirmErasure(props: {
  readonly by: By;
  readonly name: string;
  readonly value: string;
  readonly onDone: () => void;
}) {
  const { by, name, value, onDone } = props;
  const input = bodyOf(by, name, value);
  const preview = useQuery(erasurePreviewQuery(input));
  return (
    <ConfirmDialog
      title="Erase these records?"
      confirm="Erase"
      typed={value}
      pending={preview.isLoading}
      action={withInput(erasures.create(), input)}
      onDone={onDone}
    >
      <p>
        Deletes all records of all agents with the {labels[by].toLowerCase()}{' '}
        {isNamed(by) && <code>{name}</code>} “<bdi>{value}</bdi>”. This cannot be undone. Statistics
        stay.
      </p>
      <p role="status">
        {preview.data ? <Extent {...preview.data} /> : preview.isError ? null : 'Counting…'}
      </p>
      <FormError error={preview.error} />
    </ConfirmDialog>
  );
}

/** How many records, from when to when, as far as the preview looked. */
function Extent({ records, isLowerBound, from, to }: ErasurePreview) {
  const older = isLowerBound && ' Only the newest records were counted: erasing searches all.';
  if (from === null || to === null)
    return (
      <>
        No record matches{isLowerBound && ' so far'}.{older}
      </>
    );
  const count = records === 1 ? '1 record' : `${records.toLocaleString()} records`;
  return (
    <>
      <b>
        {isLowerBound && 'At least '}
        {count}
      </b>
      , from <Time at={from} /> to <Time at={to} />.{older}
    </>
  );
}

function bodyOf(by: By, name: string, value: string): ErasureInput {
  switch (by) {
    case 'user':
      return { user: value };
    case 'tag':
      return { tag: value };
    case 'metadata':
      return { metadata: { [name]: value } };
    case 'variable':
      return { variable: name, value };
  }
}
