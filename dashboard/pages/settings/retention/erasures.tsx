import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Erasure, ErasureInput } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { useFilters } from '../../../components/hooks/use-filters.ts';
import { useLastPage } from '../../../components/hooks/use-last-page.ts';
import { Card } from '../../../components/layout/card.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { Pager } from '../../../components/tables/pager.tsx';
import { erasuresQuery, useErase } from '../../../data/workspace/retention.ts';
import type { OffsetSearch } from '../route.ts';
import classes from '../settings.module.css';

const pageSize = 20;

/** Requests the deletion of all records of an end user, and shows the progress. */
export function Erasures() {
  const [{ offset = 0 }, change] = useFilters<OffsetSearch>();
  const erasures = useQuery(erasuresQuery({ limit: pageSize, offset }));
  const { data } = erasures;
  useLastPage(data?.pagination, data?.erasures.length);
  return (
    <Card title="Erase an end user">
      <p className={classes.text}>
        Deletes every record of any agent that was for this user, or that has this tag, metadata or
        variable, and every workflow run that the value reached. Schedules are only listed: change
        them. Executions in progress are deleted when they end. Records whose bodies were already
        deleted cannot be matched and stay.
      </p>
      <EraseForm />
      {erasures.isError && !data ? (
        <ErrorState error={erasures.error} onRetry={() => void erasures.refetch()} />
      ) : (
        data &&
        data.pagination.total > 0 && (
          <div className={classes.rows}>
            <DataTable
              caption="Erasures"
              columns={columns}
              rows={data.erasures}
              rowKey={({ erasureId }) => erasureId}
              stale={erasures.isPlaceholderData}
            />
            <Pager
              pagination={data.pagination}
              count={data.erasures.length}
              onOffset={(to) => change({ offset: to })}
            />
          </div>
        )
      )}
    </Card>
  );
}

const labels = { user: 'User', variable: 'Variable', metadata: 'Metadata', tag: 'Tag' } as const;
type By = keyof typeof labels;

const columns: readonly Column<Erasure>[] = [
  {
    key: 'by',
    header: 'By',
    cell: ({ by, variable, metadata }) => (
      <>
        {labels[by]} {(variable ?? metadata) !== null && <code>{variable ?? metadata}</code>}
      </>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    cell: ({ status }) => (
      <StateBadge tone={status === 'completed' ? 'good' : 'running'} text={status} />
    ),
  },
  {
    key: 'deleted',
    header: 'Deleted',
    align: 'right',
    cell: ({ deleted, waiting }) =>
      deleted.toLocaleString() + (waiting > 0 ? `, ${waiting} pending` : ''),
  },
  {
    key: 'schedules',
    header: 'Schedules to change',
    hideBelow: 'sm',
    cell: ({ schedules }) => schedules.map((one) => <code key={one}>{one} </code>),
  },
  {
    key: 'requested',
    header: 'Requested',
    hideBelow: 'sm',
    cell: ({ requestedAt }) => <Time at={requestedAt} relative />,
  },
];

function EraseForm() {
  const [by, setBy] = useState<By>('user');
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [isConfirming, { open, close }] = useDisclosure();
  const erase = useErase();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    erase.reset();
    open();
  };
  const isNamed = by === 'variable' || by === 'metadata';
  const done = () => {
    setValue('');
    close();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <NativeSelect
        label="Identified by"
        data={Object.entries(labels).map(([value, label]) => ({ value, label }))}
        value={by}
        onChange={({ currentTarget }) => setBy(currentTarget.value as By)}
      />
      {isNamed && (
        <TextInput
          label="Name"
          description={`The ${by === 'variable' ? 'variable' : 'name in the metadata'} that identifies the end user`}
          placeholder="customer"
          required
          withAsterisk={false}
          maxLength={1000}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      )}
      <TextInput
        label="Value"
        description="As it appears in prompts. Cueline deletes it when the erasure is complete."
        required
        withAsterisk={false}
        maxLength={10000}
        value={value}
        onChange={({ currentTarget }) => setValue(currentTarget.value)}
      />
      <div>
        <Button type="submit" variant="default" mb="md">
          Erase…
        </Button>
      </div>
      <ConfirmDialog
        opened={isConfirming}
        title="Erase these records?"
        confirmLabel="Erase"
        destructive
        mutation={erase}
        onClose={close}
        onConfirm={() => erase.mutate(bodyOf(by, name, value), { onSuccess: done })}
      >
        Deletes all records of all agents with the {labels[by].toLowerCase()}{' '}
        {isNamed && <code>{name}</code>} “<bdi>{value}</bdi>”. This cannot be undone. Statistics
        stay.
      </ConfirmDialog>
    </form>
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
