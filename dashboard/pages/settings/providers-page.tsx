import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Provider } from '../../../src/client/index.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { TestProvider } from '../../components/test-provider.tsx';
import { Time } from '../../components/time.tsx';
import { may, useMe } from '../../data/workspace/me.ts';
import { providersQuery } from '../../data/workspace/providers.ts';
import { Prices } from './prices.tsx';
import { ProviderForm } from './provider-form.tsx';
import { RemoveProvider } from './remove-provider.tsx';
import classes from './settings.module.css';

/** Whose models agents can call, with whose credential. Only owners change them. */
export function ProvidersPage() {
  const owner = may(useMe(), 'own');
  const providers = useQuery(providersQuery);
  const [edited, edit] = useState<Provider | 'new' | null>(null);
  const add = owner && <Button onClick={() => edit('new')}>Add a provider</Button>;
  const connection: Column<Provider> = {
    key: 'connection',
    header: 'Connection',
    cell: ({ name, updatedAt }) => <TestProvider key={updatedAt} name={name} />,
  };
  const actions: Column<Provider> = {
    key: 'actions',
    header: 'Actions',
    align: 'right',
    cell: (provider) => (
      <Group gap="xs" justify="flex-end">
        <Button
          size="xs"
          variant="default"
          aria-label={`Edit ${provider.name}`}
          onClick={() => edit(provider)}
        >
          Edit
        </Button>
        <RemoveProvider name={provider.name} />
      </Group>
    ),
  };
  return (
    <>
      {providers.isError && !providers.data ? (
        <ErrorState error={providers.error} onRetry={() => void providers.refetch()} />
      ) : providers.data?.length === 0 ? (
        <EmptyState icon="settings" title="No providers yet" action={add}>
          Agents run on the providers that the server’s environment names, such as by{' '}
          <code>OPENAI_API_KEY</code>, on an Ollama beside it, and on the built-in models below{' '}
          <code>cueline/</code>. One that is added here belongs to this workspace.
        </EmptyState>
      ) : (
        <>
          <Group justify="space-between" align="flex-end">
            <p className={classes.soft}>
              The name stands before the slash of a model: <code>name/model</code>.
            </p>
            {add}
          </Group>
          <div className={classes.rows}>
            <DataTable
              caption="Providers"
              columns={owner ? [...columns, connection, actions] : columns}
              rows={providers.data}
              rowKey={({ name }) => name}
              loadingRows={2}
            />
          </div>
        </>
      )}
      {edited !== null && (
        <ProviderForm provider={edited === 'new' ? null : edited} onClose={() => edit(null)} />
      )}
      <Prices />
    </>
  );
}

const columns: readonly Column<Provider>[] = [
  { key: 'name', header: 'Name', cell: ({ name }) => <code className={classes.code}>{name}</code> },
  { key: 'kind', header: 'Kind', from: 'sm', cell: ({ kind }) => kind },
  {
    key: 'address',
    header: 'Address',
    from: 'md',
    cell: ({ baseURL }) => baseURL ?? <span className={classes.soft}>its own</span>,
  },
  {
    key: 'credential',
    header: 'Credential',
    from: 'sm',
    cell: ({ hasApiKey }) => (hasApiKey ? 'stored' : 'none'),
  },
  {
    key: 'changed',
    header: 'Changed',
    from: 'lg',
    cell: ({ updatedAt }) => <Time at={updatedAt} since />,
  },
];
