import { Button, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Erasure } from '../../../../src/client/index.ts';
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
        Deletes every record of any agent that was for this user or in which the variable has this
        value, and every workflow run that the value reached. Schedules are only listed: change
        their input. Executions in progress are deleted when they end. Records whose bodies were
        already deleted cannot be matched and stay.
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

const columns: readonly Column<Erasure>[] = [
  {
    key: 'variable',
    header: 'Variable',
    cell: ({ variable }) => (variable === null ? 'User' : <code>{variable}</code>),
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
  const [variable, setVariable] = useState('');
  const [value, setValue] = useState('');
  const [isConfirming, { open, close }] = useDisclosure();
  const erase = useErase();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    erase.reset();
    open();
  };
  const erasure = variable === '' ? { user: value } : { variable, value };
  const done = () => {
    setValue('');
    close();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <TextInput
        label="Variable"
        description="The variable that identifies the end user. Empty: the user of the executions"
        placeholder="customer"
        maxLength={1000}
        value={variable}
        onChange={({ currentTarget }) => setVariable(currentTarget.value)}
      />
      <TextInput
        label="User or value"
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
        onConfirm={() => erase.mutate(erasure, { onSuccess: done })}
      >
        Deletes all records of all agents{' '}
        {variable === '' ? (
          'for the user'
        ) : (
          <>
            in which <code>{variable}</code> is
          </>
        )}{' '}
        “<bdi>{value}</bdi>”. This cannot be undone. Statistics stay.
      </ConfirmDialog>
    </form>
  );
}
