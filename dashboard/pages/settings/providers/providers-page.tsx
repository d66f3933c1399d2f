import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Provider } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { TestProvider } from '../../../components/models/test-provider.tsx';
import { EmptyState } from '../../../components/states/empty-state.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { can, useMe } from '../../../data/workspace/me.ts';
import { providersQuery } from '../../../data/workspace/providers.ts';
import classes from '../settings.module.css';
import { DeleteProvider } from './delete-provider.tsx';
import { EnvironmentProviders } from './environment-providers.tsx';
import { Prices } from './prices.tsx';
import { ProviderForm } from './provider-form.tsx';

const route = getRouteApi('/app/settings/providers');

/** The workspace's providers and custom prices. Only owners can change them. */
export function ProvidersPage() {
  const owner = can(useMe(), 'manage');
  const providers = useQuery(providersQuery);
  const [dialog, setDialog] = useState<Provider | 'new' | null>(null);
  const { provider: named } = route.useSearch();
  const navigate = route.useNavigate();
  const linked = named !== undefined && providers.data?.find(({ name }) => name === named);
  const close = () => {
    setDialog(null);
    if (named !== undefined) void navigate({ search: {}, replace: true });
  };
  const add = owner && <Button onClick={() => setDialog('new')}>Add provider</Button>;
  const connection: Column<Provider> = {
    key: 'connection',
    header: 'Connection',
    cell: ({ name, updatedAt }) => <TestProvider key={updatedAt} name={name} />,
  };
  const actions: Column<Provider> = {
    key: 'actions',
    header: 'Actions',
    align: 'right',
    sticky: true,
    cell: (provider) => (
      <Group gap="xs" justify="flex-end">
        <Button
          size="xs"
          variant="default"
          aria-label={`Edit ${provider.name}`}
          onClick={() => setDialog(provider)}
        >
          Edit
        </Button>
        <DeleteProvider name={provider.name} />
      </Group>
    ),
  };
  return (
    <>
      {providers.isError && !providers.data ? (
        <ErrorState error={providers.error} onRetry={() => void providers.refetch()} />
      ) : providers.data?.length === 0 ? (
        <EmptyState icon="settings" title="No stored providers" action={add}>
          Agents use the providers configured in the server’s environment, for example with{' '}
          <code>OPENAI_API_KEY</code>, a local Ollama, and the built-in models under{' '}
          <code>cueline/</code>. Providers added here belong to this workspace.
        </EmptyState>
      ) : (
        <>
          <Group justify="space-between" align="flex-end">
            <p className={classes.muted}>
              The provider name is the prefix of its models: <code>name/model</code>.
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
      {dialog !== null && (
        <ProviderForm provider={dialog === 'new' ? null : dialog} onClose={close} />
      )}
      {dialog === null && owner && named !== undefined && providers.data && (
        <ProviderForm provider={linked || null} newName={named} onClose={close} />
      )}
      <EnvironmentProviders own={providers.data?.map(({ name }) => name) ?? []} canTest={owner} />
      <Prices />
    </>
  );
}

const columns: readonly Column<Provider>[] = [
  { key: 'name', header: 'Name', cell: ({ name }) => <code className={classes.code}>{name}</code> },
  { key: 'kind', header: 'Type', hideBelow: 'sm', cell: ({ kind }) => kind },
  {
    key: 'address',
    header: 'Base URL',
    hideBelow: 'md',
    cell: ({ baseURL }) => baseURL ?? <span className={classes.muted}>default</span>,
  },
  {
    key: 'credential',
    header: 'Credential',
    hideBelow: 'sm',
    cell: ({ hasApiKey, auth }) => (hasApiKey ? 'Stored' : auth ? 'Server’s identity' : 'None'),
  },
  {
    key: 'changed',
    header: 'Updated',
    hideBelow: 'lg',
    cell: ({ updatedAt }) => <Time at={updatedAt} relative />,
  },
];
